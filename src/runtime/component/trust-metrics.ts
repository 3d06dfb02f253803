// SPDX-License-Identifier: Apache-2.0
import type { AuthorityPhase } from '../../api/signer/cluster-signer.ts';

/** What authority and attester measure; `web/trust-series.ts` has the series. */
export interface TrustMetrics {
  /** Bundles under our signer names that are not ours. */
  foreignBundles(signer: string, count: number): void;
  /** Unix seconds of the Active CA's end. */
  authorityNotAfter(signer: string, seconds: number): void;
  /** Unix seconds until which a leaf may be as long as the profile says. */
  authorityFullLeaves(signer: string, seconds: number): void;
  authorityPhase(signer: string, phase: AuthorityPhase, count: number): void;
  /** The published bundle; times in Unix seconds. */
  bundle(
    signer: string,
    of: { readonly certificates: number; readonly notAfter: number; readonly published: number },
  ): void;
}
