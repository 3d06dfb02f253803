// SPDX-License-Identifier: Apache-2.0
import type { ServedKind } from '#api/signer/cluster-signer.ts';
import type { PermissionRule } from '#kube/resource/permissions.ts';
import type { Flag } from './flag.ts';
import type { ComponentCode } from './host.ts';
import type { SeriesTable } from './metric.ts';
import type { PermissionNames } from './rbac/permission-names.ts';

/** `resources` of a container (core/v1 ResourceRequirements): quantities by resource name. */
export interface ComputeResources {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
}

/** A port for public clients, with a Service of its own. */
export interface PublicPort {
  readonly name: string;
  readonly containerPort: number;
  readonly service: string;
  /** Port of the Service. Default: 80. */
  readonly servicePort?: number;
}

/** A Secret that is mounted if it exists. */
export interface SecretVolume {
  /** Name of the volume. */
  readonly name: string;
  readonly secret: string;
  readonly mountPath: string;
  /** The part of a plan that names a signer, whose podCertificate is then mounted in its place. */
  readonly signer?: 'svidSigner';
}

/** The properties of every process in a pod that the command line needs. */
export interface ProcessDescriptor<Name extends string = string> {
  /** The subcommand, which determines the names of its objects. */
  readonly name: Name;
  /** The line in `countersign --help`. */
  readonly summary: string;
  /** Loads its code, which no list of components does. */
  readonly load: () => Promise<ComponentCode>;
  /**
   * True if one replica leads by its Lease, because its objects need a single writer. Replicas of
   * other components share the work.
   */
  readonly leads?: boolean;
  /** The series that it counts, in addition to those of every process. */
  readonly series?: readonly SeriesTable[];
  /** Its flags, in addition to those of every component. */
  readonly flags?: readonly Flag[];
  /** True if it records in the ledger, where there is one, and takes the flags for it. */
  readonly records?: true;
  /**
   * True if it reads records of the ledger, where an installation allows that, and takes the flags
   * for it.
   */
  readonly readsRecords?: true;
  /** True if it takes the flag `--namespaced-signers`, with the permissions that belong to it. */
  readonly servesNamespacedSigners?: boolean;
}

/**
 * The description of a component, in the `component.ts` of its folder. It is data: the list of all
 * components loads none of their code.
 */
export interface ComponentDescriptor<Name extends string = string> extends ProcessDescriptor<Name> {
  /** One sentence, for the Deployment's annotation `kubernetes.io/description`. */
  readonly description: string;
  /** The rules of its roles, for the names of an installation. */
  readonly permissions: (names: PermissionNames) => readonly PermissionRule[];
  /** The number of replicas. Two by default: one stays when a node fails. */
  readonly replicas: number;
  readonly resources: ComputeResources;
  /**
   * Whether an installation may omit it, and does so by default. Absent for a required component.
   */
  readonly optional?: { readonly enabled: boolean };
  /** False if its replicas need no Leases. */
  readonly leases?: false;
  /** Ports for public clients, each with a Service of its own. */
  readonly publicPorts?: readonly PublicPort[];
  /**
   * Secrets of the components' namespace that an administrator fills. Each is mounted if it exists.
   */
  readonly secretVolumes?: readonly SecretVolume[];
  /** Place of its data, on a volume that is never collected. One pod at a time has it. */
  readonly storage?: { readonly mountPath: string; readonly claim: string };
  /**
   * The kind of requests that it answers. Its roles name the signers that serve this kind. Absent:
   * all signers.
   */
  readonly servedKind?: ServedKind;
  /** True if its names are those of ACME signers instead of ClusterSigners. */
  readonly servesAcme?: boolean;
  /** True if it also approves for ACME signers. */
  readonly approvesAcme?: boolean;
  /** True if its names are those of ExternalClusterSigners instead of ClusterSigners. */
  readonly servesExternal?: boolean;
  /** True if it also approves for ExternalClusterSigners. */
  readonly approvesExternal?: boolean;
  /** Directory of the pod that outlives its process, and the flag that names it. */
  readonly scratch?: { readonly mountPath: string; readonly flag: string };
  /**
   * True if it needs the CA of the components' own ports. The others neither sign with it nor read
   * its key.
   */
  readonly servesOwnTls?: boolean;
  /** True if it can sign with the keys of a key holder beside it, and takes `--key-holder`. */
  readonly signsByKeyHolder?: true;
}
