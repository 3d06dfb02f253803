// SPDX-License-Identifier: Apache-2.0
import {
  AUTHORITY_PHASES,
  type ClusterSigner,
  type ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import { parseTime } from '#api/object/time.ts';
import { findCondition } from '#api/request/conditions.ts';
import type { Component } from '#component/contract.ts';
import type { TableSeries } from '#component/metric.ts';
import { PENDING_REASONS, fullLeavesUntil } from '../decide/conditions.ts';
import { AUTHORITY_SERIES } from '../metrics.ts';

/** Updates the metrics for alerts on a CA's lifetime. */
export function measureAuthorities(
  { metrics }: Component,
  { spec }: ClusterSigner,
  status: ClusterSignerStatus,
): void {
  const { authorities = [] } = status;
  const { signerName: signer } = spec;
  const series = metrics.of(AUTHORITY_SERIES);
  for (const phase of AUTHORITY_PHASES) {
    const count = authorities.filter((each) => each.phase === phase).length;
    series.phase.set({ signer, phase }, count);
  }
  measureUpstream(series, signer, status);
  const active = authorities.find(({ phase }) => phase === 'Active');
  if (active === undefined) return;
  series.notAfter.set({ signer }, parseTime(active.notAfter) / 1000);
  series.fullLeaves.set({ signer }, fullLeavesUntil(active) / 1000);
}

/** Updates the metrics for alerts on a certificate that an upstream CA has not signed. */
function measureUpstream(
  series: TableSeries<typeof AUTHORITY_SERIES>,
  signer: string,
  { conditions, upstream }: ClusterSignerStatus,
): void {
  const awaiting = findCondition(conditions, 'AwaitingCertificate');
  if (awaiting === undefined) {
    series.certificateAwaited.remove({ signer });
    series.certificateRefused.remove({ signer });
  } else {
    const isAwaited = awaiting.status === 'True';
    const isRefused = isAwaited && !PENDING_REASONS.includes(awaiting.reason ?? '');
    series.certificateAwaited.set({ signer }, isAwaited ? 1 : 0);
    series.certificateRefused.set({ signer }, isRefused ? 1 : 0);
  }
  if (upstream?.installBy === undefined) series.certificateInstallBy.remove({ signer });
  else series.certificateInstallBy.set({ signer }, parseTime(upstream.installBy) / 1000);
}
