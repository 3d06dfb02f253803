// SPDX-License-Identifier: Apache-2.0
import type { PermissionRule } from '../../kube/resource/permissions.ts';
import type { PermissionNames } from '../../runtime/rbac/permission-names.ts';

/** `resources` of a container (core/v1 ResourceRequirements): quantities by resource name. */
export interface ComputeResources {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
}

/** A port for whoever asks, with a Service of its own. */
export interface PublicPort {
  readonly name: string;
  readonly containerPort: number;
  readonly service: string;
  /** Of the Service; 80 by default. */
  readonly servicePort?: number;
}

/** A Secret that is mounted where it is there. */
export interface SecretVolume {
  /** Of the volume. */
  readonly name: string;
  readonly secret: string;
  readonly mountPath: string;
  /** The part of a plan that names a signer, whose podCertificate is then mounted in its place. */
  readonly signer?: 'svidSigner';
}

/** What an installation needs to know of a component: everything else follows from its name. */
export interface ComponentDescription {
  /** One sentence, the Deployment's annotation `kubernetes.io/description`. */
  readonly description: string;
  /** The rules of its roles, for the names of an installation. */
  readonly permissions: (names: PermissionNames) => readonly PermissionRule[];
  /** Two by default: one stays when a node fails. */
  readonly replicas: number;
  readonly resources: ComputeResources;
  /** Whether an installation may leave it out, and does so where nothing is said. Absent: it is always there. */
  readonly optional?: { readonly enabled: boolean };
  /** False where its replicas need no Leases. Absent: they take some. */
  readonly leases?: false;
  /** Ports for whoever asks, each with a Service of its own. */
  readonly publicPorts?: readonly PublicPort[];
  /** Secrets beside the components that somebody else fills: mounted where they are there. */
  readonly secretVolumes?: readonly SecretVolume[];
  /** Where it keeps its data, on a volume that is never collected: one pod at a time has it. */
  readonly storage?: { readonly mountPath: string; readonly claim: string };
  /** Whether it records in the ledger, where there is one. */
  readonly records?: true;
  /** Whether it reads records of the ledger, where an installation lets it. */
  readonly readsRecords?: true;
  /** Whether it takes the flag `--namespaced-signers`, and the permissions that come with it. */
  readonly servesNamespacedSigners?: boolean;
  /** Whether its names are those of ACME signers, and not those of ClusterSigners. */
  readonly servesAcme?: boolean;
  /** Whether it also approves for ACME signers. */
  readonly approvesAcme?: boolean;
  /** Whether it needs the CA of our own ports. The others neither sign with it nor read its key. */
  readonly servesOwnTls?: boolean;
}
