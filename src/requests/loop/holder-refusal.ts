// SPDX-License-Identifier: Apache-2.0
import { HOLDER_REFUSED } from '#api/serving/report.ts';
import type { SignerObject } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import type { Component } from '#component/contract.ts';
import * as messages from './messages.ts';

/**
 * Reports that a key holder refuses what its signer allows: in the condition Degraded, through
 * `authority`. The limits of the holder and the spec must agree.
 *
 * @param error - why a request of the signer waits. Ignored unless a holder refused it.
 */
export function reportHolderRefusal(
  { serving, name }: Pick<Component, 'serving' | 'name'>,
  signer: SignerObject,
  error: unknown,
): void {
  if (!(error instanceof SignerError) || error.code !== 'KEY_HOLDER_REFUSED') return;
  const message = messages.holderRefusal(error.message, name);
  serving.report(signer, { reason: HOLDER_REFUSED, message, stops: false });
}
