// SPDX-License-Identifier: Apache-2.0
import type { ComponentName } from './components.ts';
import type { ComputeResources } from './components/description.ts';
import type { Installation } from './installation.ts';
import type { Manifest } from './roles.ts';

/** Settings of one component's Deployment. Absent fields are left out of it. */
export interface ComponentSettings {
  readonly replicas: number;
  readonly resources: ComputeResources;
  /** Arguments after ours. */
  readonly extraArgs?: readonly string[];
  /** core/v1 EnvVar. */
  readonly extraEnv?: readonly Manifest[];
  /** Of the Deployment and its pods, besides ours. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** core/v1 Toleration. */
  readonly tolerations?: readonly Manifest[];
  /** core/v1 Affinity, in place of ours: replicas apart where there are nodes enough. */
  readonly affinity?: Manifest;
  /** core/v1 TopologySpreadConstraint. */
  readonly topologySpreadConstraints?: readonly Manifest[];
  readonly priorityClassName?: string;
}

/** The container image of every component. */
export interface ImagePlan {
  /** As the kubelet pulls it: `registry.example/countersign:0.1.0`, or with `@sha256:…`. */
  readonly reference: string;
  readonly pullPolicy?: string;
  /** core/v1 LocalObjectReference. */
  readonly pullSecrets?: readonly Manifest[];
}

/** What may be left out of an installation. Absent: left out. */
export interface OptionalParts {
  /** Each requester needs the verb `request`. */
  readonly whoMayRequest?: boolean;
  /** The ClusterSigner whose CA signs the certificates of our ports. */
  readonly servingSigner?: boolean;
  /** Who may reach the ports with metrics: networking/v1 NetworkPolicyPeer. */
  readonly networkPolicy?: {
    readonly from: readonly Manifest[];
    /** Where notifier may connect to: networking/v1 NetworkPolicyEgressRule. */
    readonly notifierEgress: readonly Manifest[];
  };
  /** Labels by which the Prometheus Operator finds its objects, and how often it scrapes. */
  readonly serviceMonitors?: {
    readonly labels: Readonly<Record<string, string>>;
    readonly interval: string;
  };
  /** How components record in the ledger; absent: there is none, or they do not. */
  readonly ledgerMode?: 'required' | 'best-effort';
  /** The volume of the ledger: a quantity, and a StorageClass where it is not the cluster's default. */
  readonly ledgerStorage?: { readonly size: string; readonly className?: string };
  /** The Secret with the credentials of the ledger's PostgreSQL; absent: SQLite on the volume. */
  readonly ledgerPostgres?: string;
  /** Arguments of notifier: whom it tells what. */
  readonly notifierArguments?: readonly string[];
  /** Arguments of the ledger: where its checkpoints go outside the cluster, what it keeps, and for how long. */
  readonly ledgerArguments?: readonly string[];
  /** Signer of the X509-SVID of `bundle-endpoint`; absent: a Secret has it. */
  readonly svidSigner?: string;
  /** Arguments of `federation`: whom it asks for which trust domain. */
  readonly federationArguments?: readonly string[];
  /** Whom `federation` may call: networking/v1 NetworkPolicyEgressRule; absent: no policy says. */
  readonly federationEgress?: readonly Manifest[];
  readonly alerts?: { readonly labels: Readonly<Record<string, string>> };
  /** Labels by which Grafana's sidecar finds the ConfigMap. */
  readonly dashboards?: { readonly labels: Readonly<Record<string, string>> };
}

/** Everything that an installation is made of, with nothing left to decide. */
export interface InstallationPlan {
  /** The names that roles and policies spell out; all CA Secrets are in one namespace. */
  readonly installation: Installation;
  /** Namespaces to make. */
  readonly namespaces: readonly string[];
  /** Where the CA Secrets are. */
  readonly keysNamespace: string;
  /** What AcmeSigners may have called; absent: nothing. */
  readonly acme?: {
    readonly servers: readonly string[];
    readonly solvers: readonly string[];
    readonly networks: readonly string[];
    /** Names that AcmeSigners of a namespace may prove by HTTP-01: `team-a=team-a.example.com`. */
    readonly http01Zones: readonly string[];
  };
  readonly image: ImagePlan;
  /** Those that are there. */
  readonly components: ReadonlyMap<ComponentName, ComponentSettings>;
  readonly parts: OptionalParts;
}
