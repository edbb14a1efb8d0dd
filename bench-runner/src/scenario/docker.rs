//! Containers for the servers: out of which images they are made, and what each may use.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `docker`: containers for the servers, one each. The images are this project's (`make docker-images`) or the official ones, which take the same variables.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Docker")]
pub struct DockerFile {
    /// The image of a ZooKeeper server, which the engine has to have: `zookeeper:3.9`.
    #[schemars(length(min = 1))]
    pub zookeeper_image: String,
    /// The image of an etcd server, which the engine has to have: `quay.io/coreos/etcd:v3.5.17`.
    #[schemars(length(min = 1))]
    pub etcd_image: String,
    /// The most memory of each container, a number with `k`, `m` or `g`: `1g`. Above the heap, or the server is killed when that is full. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = "^[1-9][0-9]*[kKmMgG]$"))]
    pub memory: Option<String>,
    /// The most processors' worth of time of each container: `1.5`. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", extend("exclusiveMinimum" = 0))]
    pub cpus: Option<f64>,
}

impl Default for DockerFile {
    fn default() -> Self {
        DockerFile {
            zookeeper_image: "bench-runner/zookeeper".to_owned(),
            etcd_image: "bench-runner/etcd".to_owned(),
            memory: None,
            cpus: None,
        }
    }
}
