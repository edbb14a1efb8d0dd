// Looks for what a reader would stumble over, in every frame of the page, and writes its findings into the page as JSON.
'use strict';

const TOLERANCE = 1; // Pixels: browsers round.

const shown = element => element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
const brief = text => text.trim().replace(/\s+/g, ' ').slice(0, 60);

// Red, green, blue and alpha of a computed colour.
function colour(text) {
  const parts = text.match(/[\d.]+/g);
  return parts && text.startsWith('rgb') ? {rgb: parts.slice(0, 3).map(Number), alpha: parts[3] === undefined ? 1 : Number(parts[3])} : null;
}

function luminance(rgb) {
  const [r, g, b] = rgb.map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// The colour behind an element.
function behind(element, view) {
  for (let at = element; at; at = at.parentElement) {
    const found = colour(view.getComputedStyle(at).backgroundColor);
    if (found && found.alpha === 1) return found.rgb;
  }
  return null;
}

// The part of a rectangle that scrolling and clipping ancestors leave; what is hidden by choice is not clipped text.
function within(rect, clip) {
  const left = Math.max(rect.left, clip.left), right = Math.min(rect.right, clip.right);
  const top = Math.max(rect.top, clip.top), bottom = Math.min(rect.bottom, clip.bottom);
  return right > left && bottom > top ? {left, right, top, bottom} : null;
}

const overlap = (a, b) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > TOLERANCE &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > TOLERANCE;

function charts(doc, view, complain) {
  let texts = 0;
  for (const svg of doc.querySelectorAll('svg')) {
    if (!shown(svg)) continue;
    const frame = svg.getBoundingClientRect();
    const ground = svg.querySelector('rect');
    const surface = ground && colour(view.getComputedStyle(ground).fill);
    const boxes = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() && shown(text))
      .map(text => ({text: brief(text.textContent), rect: text.getBoundingClientRect(), fill: view.getComputedStyle(text).fill,
        size: text.getBoundingClientRect().height}));
    texts += boxes.length;
    for (const box of boxes) {
      const {rect} = box;
      if (rect.left < frame.left - TOLERANCE || rect.right > frame.right + TOLERANCE || rect.top < frame.top - TOLERANCE ||
          rect.bottom > frame.bottom + TOLERANCE) complain('clipped in a chart', box.text);
      const ink = colour(box.fill);
      if (!surface || !ink || contrast(ink.rgb, surface.rgb) < 4.5) complain('low contrast in a chart', `${box.text}: ${box.fill}`);
      if (box.size < 9) complain('too small in a chart', box.text);
    }
    boxes.sort((a, b) => a.rect.top - b.rect.top);
    for (let i = 0; i < boxes.length; i++) {
      for (let j = i + 1; j < boxes.length && boxes[j].rect.top < boxes[i].rect.bottom; j++) {
        if (overlap(boxes[i].rect, boxes[j].rect)) complain('overlap in a chart', `${boxes[i].text} / ${boxes[j].text}`);
      }
    }
  }
  return texts;
}

function words(doc, view, complain) {
  const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  const range = doc.createRange();
  const boxes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.textContent.trim() || parent.closest('svg, script, style, .raw caption') || !shown(parent)) continue;
    const style = view.getComputedStyle(parent);
    const ink = colour(style.color), ground = behind(parent, view);
    const large = parseFloat(style.fontSize) >= 24;
    if (!ink || !ground || contrast(ink.rgb, ground) < (large ? 3 : 4.5)) complain('low contrast', brief(node.textContent));
    range.selectNodeContents(node);
    for (const rect of range.getClientRects()) {
      let seen = rect;
      // Out of the box that it belongs to, or cut off by an ancestor that does not scroll.
      let block = parent;
      while (block.parentElement && view.getComputedStyle(block).display === 'inline') block = block.parentElement;
      const box = block.getBoundingClientRect();
      const scrolls = ['auto', 'scroll'].includes(view.getComputedStyle(block).overflowX);
      if (!scrolls && (rect.left < box.left - TOLERANCE || rect.right > box.right + TOLERANCE)) complain('out of its box', brief(node.textContent));
      for (let at = block; at && seen; at = at.parentElement) {
        const overflow = view.getComputedStyle(at).overflowX;
        if (overflow === 'visible') continue;
        const clip = at.getBoundingClientRect();
        const left = within(seen, clip);
        const cut = !left || left.right - left.left < seen.right - seen.left - TOLERANCE;
        if (cut && overflow !== 'auto' && overflow !== 'scroll') complain('clipped', brief(node.textContent));
        seen = left;
      }
      if (seen) boxes.push({rect: seen, node, text: brief(node.textContent)});
    }
  }
  boxes.sort((a, b) => a.rect.top - b.rect.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].rect.top < boxes[i].rect.bottom; j++) {
      // The head of a table that scrolls stays in sight above its rows.
      const sticky = [boxes[i], boxes[j]].some(box => view.getComputedStyle(box.node.parentElement).position === 'sticky');
      if (!sticky && boxes[i].node !== boxes[j].node && overlap(boxes[i].rect, boxes[j].rect)) {
        complain('overlap', `${boxes[i].text} / ${boxes[j].text}`);
      }
    }
  }
  return boxes.length;
}

function look(frame) {
  const doc = frame.contentDocument, view = frame.contentWindow;
  const complaints = [];
  const complain = (kind, text) => { if (complaints.length < 200) complaints.push(`${kind}: ${text}`); };
  const pass = state => {
    const root = doc.documentElement;
    if (root.scrollWidth > root.clientWidth) complain('the page scrolls sideways', `${root.scrollWidth} > ${root.clientWidth} (${state})`);
    for (const element of doc.querySelectorAll('[src], [srcset], [href], [data], [poster], link, object, embed, iframe')) {
      complain('refers to something', brief(element.outerHTML));
    }
    for (const requested of view.performance.getEntriesByType('resource')) complain('requested', requested.name);
    return {texts: words(doc, view, complain), chart_texts: charts(doc, view, complain)};
  };
  const closed = pass('tables closed');
  for (const details of doc.querySelectorAll('details')) details.open = true;
  const open = pass('tables open');
  return {
    page: frame.dataset.page,
    width: view.innerWidth,
    dark: view.matchMedia('(prefers-color-scheme: dark)').matches,
    background: view.getComputedStyle(doc.body).backgroundColor,
    wide_charts: [...doc.querySelectorAll('svg.wide')].filter(shown).length,
    narrow_charts: [...doc.querySelectorAll('svg.narrow')].filter(shown).length,
    texts: open.texts,
    chart_texts: closed.chart_texts,
    complaints,
  };
}

addEventListener('load', () => {
  const findings = [...document.querySelectorAll('iframe')].map(look);
  const out = document.createElement('script');
  out.type = 'application/json';
  out.id = 'findings';
  out.textContent = JSON.stringify(findings).replaceAll('<', '\\u003c');
  document.body.replaceChildren(out);
});
