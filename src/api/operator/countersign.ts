// SPDX-License-Identifier: Apache-2.0
import type { InstallationObject } from './installation.ts';

/** Group, version and plural of {@link Countersign}. */
export const COUNTERSIGNS = {
  group: 'operator.countersign.dev',
  version: 'v1alpha1',
  plural: 'countersigns',
} as const;

/**
 * The Countersign to install. Fields that this type does not name are values of the chart, under
 * the same names.
 */
export interface CountersignSpec {
  /** Such as `0.1.0`. */
  readonly version: string;
  readonly image?: {
    /** The whole reference, in place of the operator's own image with `version` as its tag. */
    readonly reference?: string;
    readonly pullPolicy?: string;
    readonly pullSecrets?: readonly { readonly name: string }[];
  };
  readonly signers?: readonly {
    readonly name: string;
    readonly bundle?: string;
    readonly secret?: string;
    /** Kinds of requests, by the members of a ClusterSigner's spec. */
    readonly serves?: readonly string[];
    /** The key of its CA is in key holders, and not in a Secret that components may read. */
    readonly keyHolder?: boolean;
  }[];
  /** Domains whose every signer name the roles grant. */
  readonly signerDomains?: readonly string[];
  readonly namespacedSigners?: {
    readonly enabled?: boolean;
    readonly secrets?: readonly { readonly namespace: string; readonly name: string }[];
  };
  /** pcr-issuer reads pods and Services, for signers whose leaves have their names. */
  readonly podServices?: boolean;
  /** Issuers of cert-manager that sign managed CAs: `<namespace>/<Kind>.<group>/<name>`. */
  readonly upstreamIssuers?: readonly string[];
  /** Servers of Vault that sign managed CAs: `https://<host>[:<port>]`. */
  readonly upstreamVaults?: readonly string[];
  /** Settings of the ACME components, for those that are enabled. */
  readonly acme?: {
    readonly signers?: readonly {
      readonly name: string;
      readonly accountSecret?: string;
      readonly externalAccountSecret?: string;
    }[];
    readonly secrets?: readonly { readonly namespace: string; readonly name: string }[];
    readonly solverSecrets?: readonly { readonly namespace: string; readonly name: string }[];
    /** `<groupName>/<solverName>`. */
    readonly dnsWebhooks?: readonly string[];
    /** Labels and annotations that routes may have, as `key=value`. */
    readonly routeMetadata?: readonly string[];
    readonly renewCertificates?: boolean;
    readonly servers?: readonly string[];
    readonly solvers?: readonly string[];
    readonly networks?: readonly string[];
    readonly http01Zones?: readonly string[];
  };
  /** Settings of external-signer, if the component is enabled. */
  readonly external?: {
    /** Signer names of ExternalClusterSigners. */
    readonly signers?: readonly string[];
    /** Servers of Vault that they may name: `https://<host>[:<port>]`. */
    readonly vaults?: readonly string[];
  };
  /** Settings of the ledger, if the component is enabled. */
  readonly ledger?: {
    readonly mode?: 'off' | 'required' | 'best-effort';
    /** pcr-issuer and pod-refresher read records. */
    readonly facts?: boolean;
    /** The API server aggregates the ledger's API. */
    readonly aggregatedApi?: boolean;
    readonly storage?: { readonly size?: string; readonly className?: string };
    readonly postgres?: {
      readonly secret?: string;
      readonly url?: string;
      readonly ownCa?: boolean;
    };
    readonly checkpoints?: {
      readonly webhook?: string;
      readonly signWebhook?: boolean;
      readonly objectStore?: boolean;
      readonly witnesses?: readonly string[];
      readonly ownCa?: boolean;
      readonly interval?: string;
    };
    readonly monitoredSecrets?: readonly { readonly namespace: string; readonly name: string }[];
    readonly retention?: string;
    readonly omit?: readonly string[];
  };
  /** Identity of bundle-endpoint, if the component is enabled. */
  readonly bundleEndpoint?: { readonly svidSigner?: string };
  readonly servingSigner?: { readonly create?: boolean };
  readonly whoMayRequest?: boolean;
  /** Settings of all components. Each component may override them. */
  readonly defaults?: ComponentOverrides;
  /** Settings by the component's subcommand. */
  readonly components?: Readonly<Record<string, ComponentOverrides>>;
  /** Settings that no version supports. */
  readonly dangerZone?: {
    /** Arguments that the version does not know, by the component's subcommand. */
    readonly extraArgs?: Readonly<Record<string, readonly string[]>>;
  };
}

/** Settings of one component, which are values of the chart. */
export interface ComponentOverrides {
  readonly enabled?: boolean;
  readonly extraArgs?: readonly string[];
  readonly extraEnv?: readonly { readonly name: string; readonly value?: string }[];
  /** CPU and memory, of which the schema covers the shape. */
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string | number>>;
    readonly limits?: Readonly<Record<string, string | number>>;
  };
  readonly [setting: string]: unknown;
}

/** An installation of Countersign, the singleton `cluster`. */
export interface Countersign extends InstallationObject {
  readonly spec: CountersignSpec;
}
