// SPDX-License-Identifier: Apache-2.0
import { isKubernetesSignerName } from '#api/signer/signer-name.ts';
import { unanswerable } from '#diagnose/explain/certificate-signing-request.ts';
import { readSignerView } from '#diagnose/explain/read-signer-view.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';

/** Advice for a user whose request names a signer for which Countersign issues no certificate. */
export interface UnansweredHint {
  readonly text: string;
  /** True if another program may answer the request once it is approved. */
  readonly isApprovable: boolean;
}

/**
 * Returns the hint for a signer name that no signer has, such as a misspelled one, or whose signer
 * is invalid.
 *
 * @returns undefined if a signer answers, or if the user may not read it
 */
export async function unansweredHint(
  client: Client,
  signerName: string,
): Promise<UnansweredHint | undefined> {
  if (isKubernetesSignerName(signerName)) return undefined;
  const view = await readSignerView(client, signerName).catch((error: unknown) => {
    // A hint is not worth a failed request.
    if (error instanceof KubeError) return undefined;
    throw error;
  });
  if (view === undefined || view.isHidden === true) return undefined;
  const found = unanswerable(view);
  if (found === undefined) return undefined;
  const { summary, noApprovalHelps, notices: [notice = summary] = [] } = found;
  const isAbsent = view.signer === undefined && view.unusable === undefined;
  const isApprovable = isAbsent && noApprovalHelps === undefined;
  return { text: noApprovalHelps ?? notice, isApprovable };
}
