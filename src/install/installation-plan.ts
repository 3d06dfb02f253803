// SPDX-License-Identifier: Apache-2.0
import type { ComponentName } from './component-list.ts';
import type { ComputeResources } from '#component/descriptor.ts';
import type { Installation } from './installation.ts';
import type { SidecarPlan } from './key-holder-sidecar.ts';
import type { Manifest } from './roles.ts';

/** Settings of one component's Deployment. It omits absent fields. */
export interface ComponentSettings {
  readonly replicas: number;
  readonly resources: ComputeResources;
  /** Arguments after the default ones. */
  readonly extraArgs?: readonly string[];
  /** core/v1 EnvVar. */
  readonly extraEnv?: readonly Manifest[];
  /** Labels of the Deployment and its pods, besides the default ones. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** core/v1 Toleration. */
  readonly tolerations?: readonly Manifest[];
  /**
   * core/v1 Affinity, in place of the default: replicas on different nodes if there are enough.
   * Empty for none.
   */
  readonly affinity?: Manifest;
  /** core/v1 TopologySpreadConstraint. */
  readonly topologySpreadConstraints?: readonly Manifest[];
  readonly priorityClassName?: string;
  /** User and groups of the pod: fields of core/v1 PodSecurityContext. */
  readonly ids?: Manifest;
  /** The key holder beside it. */
  readonly keyHolder?: SidecarPlan;
}

/** The container image of every component. */
export interface ImagePlan {
  /**
   * Reference that the kubelet pulls: `registry.example/countersign:0.1.0`, or with `@sha256:…`.
   */
  readonly reference: string;
  readonly pullPolicy?: string;
  /** core/v1 LocalObjectReference. */
  readonly pullSecrets?: readonly Manifest[];
}

/** Parts of a Deployment for servers of Vault. */
export interface VaultParts {
  readonly arguments: readonly string[];
  readonly volumes: readonly Manifest[];
  readonly mounts: readonly Manifest[];
}

/** Optional parts of an installation. Absent parts are left out. */
export interface OptionalParts {
  /** Each requester needs the verb `request`. */
  readonly whoMayRequest?: boolean;
  /** The ClusterSigner whose CA signs the certificates of the components' ports. */
  readonly servingSigner?: boolean;
  /** Peers that may reach the ports with metrics: networking/v1 NetworkPolicyPeer. */
  readonly networkPolicy?: {
    readonly from: readonly Manifest[];
    /** Destinations that notifier may connect to: networking/v1 NetworkPolicyEgressRule. */
    readonly notifierEgress: readonly Manifest[];
  };
  /** Labels by which the Prometheus Operator finds its objects, and the scrape interval. */
  readonly serviceMonitors?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly interval: string;
  };
  /**
   * Mode in which components record in the ledger. Absent without a ledger, or if they do not
   * record.
   */
  readonly ledgerMode?: 'required' | 'best-effort';
  /** Volume of the ledger: a quantity, and a StorageClass other than the cluster's default. */
  readonly ledgerStorage?: { readonly size: string; readonly className?: string };
  /** Secret with the credentials of the ledger's PostgreSQL. Absent: SQLite on the volume. */
  readonly ledgerPostgres?: string;
  /** The API server aggregates the ledger's API. */
  readonly ledgerApiService?: boolean;
  /** Arguments of notifier for its targets and their events. */
  readonly notifierArguments?: readonly string[];
  /** Arguments of the ledger: checkpoints outside the cluster, stored fields, and retention. */
  readonly ledgerArguments?: readonly string[];
  /** Signer of the X509-SVID of `bundle-endpoint`. Absent if a Secret has it. */
  readonly svidSigner?: string;
  /** Arguments of `federation`: the endpoint of each trust domain. */
  readonly federationArguments?: readonly string[];
  /**
   * Destinations that `federation` may call: networking/v1 NetworkPolicyEgressRule. Absent: no
   * NetworkPolicy.
   */
  readonly federationEgress?: readonly Manifest[];
  /** Parts of `authority`, for the servers that sign managed CAs. */
  readonly vault?: VaultParts;
  /** Parts of `external-signer`, for the servers that ExternalClusterSigners name. */
  readonly externalVault?: VaultParts;
  readonly alerts?: { readonly labels: Readonly<Record<string, string>> };
  /** Labels by which Grafana's sidecar finds the ConfigMap. */
  readonly dashboards?: { readonly labels: Readonly<Record<string, string>> };
}

/** The complete plan of an installation, with all defaults. */
export interface InstallationPlan {
  /** Names in roles and policies. All CA Secrets are in one namespace. */
  readonly installation: Installation;
  /** Namespaces to create. */
  readonly namespaces: readonly string[];
  /** Namespace of the CA Secrets. */
  readonly keysNamespace: string;
  /** Destinations that components may call for AcmeSigners. Absent: none. */
  readonly acme?: {
    readonly servers: readonly string[];
    readonly solvers: readonly string[];
    readonly networks: readonly string[];
    /** Names that AcmeSigners of a namespace may prove by HTTP-01: `team-a=team-a.example.com`. */
    readonly http01Zones: readonly string[];
  };
  readonly image: ImagePlan;
  /** Enabled components. */
  readonly components: ReadonlyMap<ComponentName, ComponentSettings>;
  readonly parts: OptionalParts;
}
