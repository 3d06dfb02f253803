// SPDX-License-Identifier: Apache-2.0
import type { TrustBundleSource } from '#api/object/pod.ts';
import type { CurrentLeaf } from './credentials/leaf.ts';
import type { OwnCause } from './credentials/own-leaves.ts';
import type { PodCredential } from './credentials/pod-certificates.ts';
import type { SecretLeaf } from './credentials/secret-leaves.ts';
import type { SignerCas } from './credentials/signer-trust.ts';
import type { CredentialUse } from './credentials/used-credentials.ts';

/** Sources of the credentials of a namespace. */
export interface CredentialSource {
  readonly secret: (namespace: string, name: string) => SecretLeaf;
  /** Returns the newest valid credential that the kubelet of a pod got from a signer. */
  readonly podCertificate: (
    pod: { readonly namespace: string; readonly uid: string },
    signerName: string,
  ) => PodCredential | undefined;
  /** Returns undefined if the bundle is not known, or not known to have changed. */
  readonly bundle: (
    bundle: TrustBundleSource,
    recorded: string | undefined,
  ) => CurrentLeaf | undefined;
  readonly bundleSigner: (bundle: TrustBundleSource) => string | undefined;
  /**
   * Returns when the anchors of a projection were last written, in milliseconds since the epoch.
   */
  readonly bundleWrite: (bundle: TrustBundleSource) => number | undefined;
  readonly trust: (signerName: string) => SignerCas;
  /** True if a leaf of a distrusted CA of any signer may be valid. */
  readonly isAnyDistrusted: boolean;
  /** Returns a text that changes whenever the answers about pods of the namespace may change. */
  readonly version: (namespace: string) => string;
}

/** A credential that differs from the one of the workload's last restart. */
export interface ChangedCredential {
  /**
   * `secret/web-tls`, `pod-certificate/example.com/workload`,
   * `bundle/example.com:workload:primary`, `distrusted/example.com/workload`.
   */
  readonly credential: string;
  readonly leaf: CurrentLeaf;
  readonly use: CredentialUse;
  /** Cause, if it is a pod's own credential. */
  readonly cause?: OwnCause;
}
