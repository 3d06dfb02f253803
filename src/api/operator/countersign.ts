// SPDX-License-Identifier: Apache-2.0
import type { InstallationObject } from './installation.ts';

/** The group, the version and the plural of {@link Countersign}. */
export const COUNTERSIGNS = {
  group: 'operator.countersign.dev',
  version: 'v1alpha1',
  plural: 'countersigns',
} as const;

/** What is to be installed. Fields that are not named here are values of the chart, under the same names. */
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
  }[];
  readonly namespacedSigners?: {
    readonly enabled?: boolean;
    readonly secrets?: readonly { readonly namespace: string; readonly name: string }[];
  };
  /** Whether pcr-issuer reads pods and Services, for signers whose leaves have their names. */
  readonly podServices?: boolean;
  /** What the components of ACME serve, where they are enabled. */
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
    readonly renewCertificates?: boolean;
    readonly servers?: readonly string[];
    readonly solvers?: readonly string[];
    readonly networks?: readonly string[];
    readonly http01Zones?: readonly string[];
  };
  /** The ledger, where the component is enabled. */
  readonly ledger?: {
    readonly mode?: 'off' | 'required' | 'best-effort';
    /** Whether pcr-issuer and pod-refresher read records. */
    readonly facts?: boolean;
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
  /** How bundle-endpoint proves itself, where the component is enabled. */
  readonly bundleEndpoint?: { readonly svidSigner?: string };
  readonly servingSigner?: { readonly create?: boolean };
  readonly whoMayRequest?: boolean;
  /** Settings of all components; each may override them. */
  readonly defaults?: ComponentOverrides;
  /** By the component's subcommand. */
  readonly components?: Readonly<Record<string, ComponentOverrides>>;
  /** What no version vouches for. */
  readonly dangerZone?: {
    /** Arguments that the version does not know, by the component's subcommand. */
    readonly extraArgs?: Readonly<Record<string, readonly string[]>>;
  };
}

/** What is set for one component: values of the chart. */
export interface ComponentOverrides {
  readonly enabled?: boolean;
  readonly extraArgs?: readonly string[];
  readonly extraEnv?: readonly { readonly name: string; readonly value?: string }[];
  readonly [setting: string]: unknown;
}

/** An installation of Countersign, the singleton `cluster`. */
export interface Countersign extends InstallationObject {
  readonly spec: CountersignSpec;
}
