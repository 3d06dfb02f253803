// SPDX-License-Identifier: Apache-2.0
import {
  AUTHORITY_PHASES,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '../../../api/signer/cluster-signer.ts';
import { parseTime } from '../../../api/object/time.ts';
import type { Component } from '../../../runtime/component/component.ts';
import { fullLeavesUntil } from '../decide/conditions.ts';

/** The metrics for alerts on a CA's lifetime. */
export function measureAuthorities(
  { metrics }: Component,
  { spec }: ClusterSigner,
  { authorities = [] }: ClusterSignerStatus,
): void {
  const { signerName } = spec;
  for (const phase of AUTHORITY_PHASES) {
    const count = authorities.filter((each) => each.phase === phase).length;
    metrics.authorityPhase(signerName, phase, count);
  }
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return;
  metrics.authorityNotAfter(signerName, parseTime(active.notAfter) / 1000);
  metrics.authorityFullLeaves(signerName, fullLeavesUntil(active) / 1000);
}
