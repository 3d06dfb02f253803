// SPDX-License-Identifier: Apache-2.0
/** The facts that `countersign check` reads from a cluster and then judges. */
import type { ExternalSigner } from '#api/external/external-signer.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Order } from '#api/acme/order.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Pod } from '#api/object/pod.ts';
import type { Service } from '#api/object/service.ts';
import type { PodCertificateRequest } from '#api/request/pod-certificate-request.ts';
import type { Revocation } from '#api/revocation/revocation.ts';
import type { CertificatesPlural } from '#component/certificates-resources.ts';
import type { FullQuota } from '#operations/pods/quota.ts';
import type { AnnotatedObject } from '#operations/pods/unread-annotations.ts';
import type { Client } from '#kube/client/client.ts';
import type { Lease } from '#kube/lease/lease.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { LiveAdmission } from '#install/admission/compare.ts';
import type { Installation } from '#install/installation.ts';
import type { SignerState } from '#operations/signer-state.ts';
import type { InstallationStatus } from '#api/operator/installation.ts';
import type { ReadResult } from './finding.ts';
import type { ManagedObject } from '#kube/apply/objects/managed-object.ts';
import type { Installer } from './installer.ts';

/** Facts about the cluster that a new installation depends on. */
export interface KubernetesFacts {
  /** Local minus server time in milliseconds. */
  readonly clockOffset: number;
  /** `gitVersion`, such as `v1.37.1`. */
  readonly version: ReadResult<string>;
  /** Versions in which the API server serves the two kinds, newest first. */
  readonly served: ReadResult<Readonly<Record<CertificatesPlural, readonly string[]>>>;
  readonly kubelets: ReadResult<readonly Kubelet[]>;
  readonly webhooks: ReadResult<readonly Webhook[]>;
}

/** Prerequisites of the optional ledger in the cluster. Read with `--pre`. */
export interface LedgerFacts {
  readonly storageClasses: ReadResult<readonly StorageClass[]>;
}

export interface StorageClass {
  readonly name: string;
  readonly isDefault: boolean;
}

/** A node and the version of its kubelet, such as `v1.37.1`. */
export interface Kubelet {
  readonly node: string;
  readonly version: string;
  /** The scheduler places no new pod on this node. Default false. */
  readonly isCordoned?: boolean;
}

/** One webhook of a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration. */
export interface Webhook {
  /** `validatingwebhookconfiguration/NAME`. */
  readonly configuration: string;
  readonly name: string;
  readonly failurePolicy?: string;
  /** `namespace/name` of the Service that serves it. Absent if the webhook has a URL. */
  readonly service?: string;
  /** True if the Service has a ready endpoint. Absent if not read or not known. */
  readonly served?: boolean;
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
  }[];
}

/** The installation and the signers that it serves. */
export interface InstallationFacts {
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  /** Namespace of the components. */
  readonly namespace: string;
  readonly definitions: ReadResult<readonly Definition[]>;
  readonly deployments: ReadResult<readonly Deployment[]>;
  /** Manager of the Deployments. `manifests` if the user may not list them. */
  readonly installer: Installer;
  /** Objects of the operators. Empty if their kinds are not installed. */
  readonly operated: ReadResult<readonly OperatedInstallation[]>;
  readonly leases: ReadResult<readonly Lease[]>;
  /** Rules by component, for components that have a ClusterRole. */
  readonly roles: ReadResult<ReadonlyMap<string, readonly PermissionRule[]>>;
  /** RoleBindings and ClusterRoleBindings of any name. */
  readonly bindings: ReadResult<readonly Binding[]>;
  /** The names of the ServiceAccounts in the namespace of the components. */
  readonly accounts: ReadResult<readonly string[]>;
  /** The APIServices of Countersign's API groups. */
  readonly apiServices: ReadResult<readonly AggregatedApi[]>;
  readonly policies: ReadResult<ReadonlyMap<string, LiveAdmission>>;
  /** The FlowSchema and PriorityLevelConfiguration of the components. */
  readonly flowControl: ReadResult<readonly ManagedObject[]>;
  readonly signers: ReadResult<SignerFacts>;
  readonly requests: ReadResult<readonly WaitingRequest[]>;
  readonly pods: ReadResult<PodFacts>;
  /** Objects with countersign.dev annotations in the namespaces that opted in. */
  readonly annotated: ReadResult<readonly AnnotatedObject[]>;
  readonly acme: ReadResult<AcmeFacts>;
  readonly external: ReadResult<ExternalSignerFacts>;
}

/** Pods that mount a certificate of a managed signer, and the evidence of their leaves. */
export interface PodFacts {
  /** Pods that run or can still start. */
  readonly mounting: readonly Pod[];
  /** Pods that mount a bundle of a ClusterSigner, among them such of `mounting`. */
  readonly trusting: readonly Pod[];
  /**
   * PodCertificateRequests of the managed signers, in any state. The API server deletes one 15
   * minutes after its end.
   */
  readonly requests: readonly PodCertificateRequest[];
  readonly revocations: readonly Revocation[];
  /** Read only if a signer puts names of Services into leaves. */
  readonly services: ReadResult<readonly Service[]>;
  /** ResourceQuotas that allow no more PodCertificateRequests. Read only if a pod waits. */
  readonly quotas: readonly (FullQuota & { readonly namespace: string })[];
  /** Latest warning about each waiting pod, by its UID. */
  readonly warnings: ReadonlyMap<string, string>;
}

/** ACME signers and the progress of their Orders. */
export interface AcmeFacts {
  /** AcmeClusterSigners and AcmeSigners. */
  readonly signers: readonly AcmeSigner[];
  /** Signers with an invalid spec, and the error. */
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
  readonly orders: ReadResult<readonly NewestOrder[]>;
}

/** ExternalClusterSigners. */
export interface ExternalSignerFacts {
  readonly signers: readonly ExternalSigner[];
  /** Signers with an invalid spec, and the error. */
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
}

/** The latest Order of a request. */
export interface NewestOrder {
  readonly name: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly state: Order['status']['state'];
  readonly isIssued: boolean;
  /** Creation time in milliseconds since the epoch. */
  readonly since: number;
  readonly reason?: string;
  /** `Reason: message`. */
  readonly why?: string;
  /** Milliseconds since the epoch. */
  readonly nextAttemptAt?: number;
}

/**
 * The fields that the checks read of an rbac.authorization.k8s.io/v1 RoleBinding or
 * ClusterRoleBinding.
 */
export interface Binding {
  /** Absent for a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly role: { readonly kind: string; readonly name: string };
  /** `namespace/name` of the ServiceAccounts among its subjects. */
  readonly accounts: readonly string[];
}

/** The fields that the checks read of an apiregistration.k8s.io/v1 APIService. */
export interface AggregatedApi {
  readonly name: string;
  readonly available: boolean;
  /** `Reason: message` of the condition Available. */
  readonly why?: string;
}

/** The fields that the checks read of an apiextensions.k8s.io/v1 CustomResourceDefinition. */
export interface Definition {
  readonly name: string;
  readonly established: boolean;
  /** Versions of the API that are served. */
  readonly served: readonly string[];
  /** Version of Countersign that installed it. Undefined without the chart's label. */
  readonly release: string | undefined;
  /** JSON pointers of the fields that differ from the definition of this version. */
  readonly differences?: readonly string[];
}

/** The fields that the checks read of an apps/v1 Deployment. */
export interface Deployment {
  readonly name: string;
  readonly component: string;
  readonly image: string;
  /** Arguments of its first container. */
  readonly args: readonly string[];
  readonly wanted: number;
  readonly available: number;
  /** Cause of missing replicas, from the status of the Deployment or of one of its pods. */
  readonly why?: string;
  /** True if all containers of its unready pods run, so that these lack only their readiness. */
  readonly lacksOnlyReadiness?: true;
}

/** A Countersign or a CertManagerDeployment, which an operator installs. */
export interface OperatedInstallation {
  readonly kind: 'Countersign' | 'CertManagerDeployment';
  readonly name: string;
  readonly generation: number;
  /** `spec.signers` of a Countersign, as written. */
  readonly signers?: readonly unknown[];
  readonly status: InstallationStatus | undefined;
}

/** The ClusterSigners of the installation. */
export interface SignerFacts {
  readonly states: readonly SignerState[];
  /** Signers with an invalid spec, and the error. */
  readonly invalid: readonly { readonly name: string; readonly why: string }[];
  /** Names that roles and policies list. */
  readonly installation: Installation;
  /** Bundles of foreign trust domains. Absent if the user may not read bundles. */
  readonly federated?: readonly ClusterTrustBundle[];
}

/** A pending request for a certificate of a signer of this installation. */
export interface WaitingRequest {
  /** Name for kubectl: `podcertificaterequest/NAME`. */
  readonly object: string;
  readonly namespace?: string;
  readonly signerName: string;
  /** Time of approval, or of creation if unknown, in milliseconds since the epoch. */
  readonly since: number;
  /** True if it waits for a person, false if for a component. */
  readonly waitsForApproval: boolean;
  /** The cause that its own status names. */
  readonly cause?: string;
  /** Message of its signer, which fails it for good even if approved. Absent if not known. */
  readonly wouldFail?: string;
}

/** Location of the installation. */
export interface Place {
  /** Namespace of the components. */
  readonly namespace: string;
  /** Namespace of the CA Secrets. */
  readonly secretNamespace: string;
  /** Signer name of the CA that signs the certificates of the components' ports. */
  readonly servingSigner: string;
}

/** Dependencies of the functions that read facts. */
export interface ReadInit extends Place {
  readonly client: Client;
  readonly clock: () => number;
  /** Seconds that an anchor must have been served before its CA signs. */
  readonly propagationSeconds: number;
}
