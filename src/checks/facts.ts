// SPDX-License-Identifier: Apache-2.0
/** What `countersign check` reads of a cluster, before anything is judged. */
import type { AcmeSigner, Order } from '../api/acme/index.ts';
import type { Client } from '../kube/client/client.ts';
import type { Lease } from '../kube/lease/lease.ts';
import type { PermissionRule } from '../kube/resource/permissions.ts';
import type { LiveAdmission } from '../manifests/admission/compare.ts';
import type { Installation } from '../manifests/installation.ts';
import type { SignerState } from '../operations/signer-state.ts';
import type { InstallationStatus } from '../api/operator/installation.ts';
import type { Seen } from './finding.ts';
import type { Installer } from './installer.ts';

/** What must be known of the cluster before Countersign is installed. */
export interface KubernetesFacts {
  /** Local minus server time in milliseconds. */
  readonly clockOffset: number;
  /** `gitVersion`, such as `v1.37.1`. */
  readonly version: string;
  /** Versions in which the API server serves the two kinds, newest first. */
  readonly served: Readonly<
    Record<'podcertificaterequests' | 'clustertrustbundles', readonly string[]>
  >;
  readonly kubelets: Seen<readonly Kubelet[]>;
  readonly webhooks: Seen<readonly Webhook[]>;
}

/** A node and the version of its kubelet, such as `v1.37.1`. */
export interface Kubelet {
  readonly node: string;
  readonly version: string;
}

/** One webhook of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration. */
export interface Webhook {
  /** `validatingwebhookconfiguration/NAME`. */
  readonly configuration: string;
  readonly name: string;
  readonly failurePolicy?: string;
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
  }[];
}

/** What is installed, and the signers that it serves. */
export interface InstallationFacts {
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  readonly definitions: Seen<readonly Definition[]>;
  readonly deployments: Seen<readonly Deployment[]>;
  /** Whose work the Deployments are; `manifests` where they may not be seen. */
  readonly installer: Installer;
  /** The objects that operators act on; none where their kinds are not installed. */
  readonly operated: Seen<readonly OperatedInstallation[]>;
  readonly leases: Seen<readonly Lease[]>;
  /** By component, for those that have a ClusterRole. */
  readonly roles: Seen<ReadonlyMap<string, readonly PermissionRule[]>>;
  readonly policies: Seen<ReadonlyMap<string, LiveAdmission>>;
  readonly signers: Seen<SignerFacts>;
  readonly requests: Seen<readonly WaitingRequest[]>;
  readonly acme: Seen<AcmeFacts>;
}

/** The signers of ACME, and how far their Orders are. */
export interface AcmeFacts {
  /** AcmeClusterSigners and AcmeSigners. */
  readonly signers: readonly AcmeSigner[];
  /** Those whose spec is invalid, and why. */
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
  readonly orders: Seen<readonly NewestOrder[]>;
}

/** The newest Order of a request. */
export interface NewestOrder {
  readonly name: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly state: Order['status']['state'];
  readonly isIssued: boolean;
  /** Milliseconds since the epoch: when it was made. */
  readonly since: number;
  /** `Reason: message`. */
  readonly why?: string;
  /** Milliseconds since the epoch. */
  readonly nextAttemptAt?: number;
}

/** apiextensions.k8s.io/v1 CustomResourceDefinition, as far as it is read. */
export interface Definition {
  readonly name: string;
  readonly established: boolean;
  /** Versions of the API that are served. */
  readonly served: readonly string[];
  /** The version of Countersign that it came with; undefined where it was installed without the chart. */
  readonly release: string | undefined;
}

/** apps/v1 Deployment, as far as it is read. */
export interface Deployment {
  readonly name: string;
  readonly component: string;
  readonly image: string;
  /** Of its first container. */
  readonly args: readonly string[];
  readonly wanted: number;
  readonly available: number;
  /** Where replicas are away: what its status says of that, or the status of a pod of it. */
  readonly why?: string;
}

/** A Countersign or a CertManagerDeployment: what an operator is to install. */
export interface OperatedInstallation {
  readonly kind: 'Countersign' | 'CertManagerDeployment';
  readonly name: string;
  readonly generation: number;
  readonly status: InstallationStatus | undefined;
}

/** The ClusterSigners of the installation. */
export interface SignerFacts {
  readonly states: readonly SignerState[];
  /** Those whose spec is invalid, and why. */
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
  /** The names that roles and policies must spell out. */
  readonly installation: Installation;
}

/** A request for a certificate of one of our signers that is not answered. */
export interface WaitingRequest {
  /** As kubectl takes it: `podcertificaterequest/NAME`. */
  readonly object: string;
  readonly namespace?: string;
  readonly signerName: string;
  /** Milliseconds since the epoch: when it was made, or approved where that is known. */
  readonly since: number;
  /** Whether it waits for a person, not for a component. */
  readonly waitsForApproval: boolean;
}

/** Where the installation is. */
export interface Place {
  /** Of the components. */
  readonly namespace: string;
  /** Of the CA Secrets. */
  readonly secretNamespace: string;
  /** Signer name of the CA that signs the certificates of the components' ports. */
  readonly servingSigner: string;
}

/** What reading takes. */
export interface ReadInit extends Place {
  readonly client: Client;
  readonly clock: () => number;
}
