// SPDX-License-Identifier: Apache-2.0
import { signerGauge, type SeriesRecorder } from '#component/metric.ts';

/** The series of `pcr-issuer`, besides those of requests. */
export const POD_SERIES = {
  podNamesOutdated: signerGauge(
    'countersign_pod_names_outdated',
    'Leaves with a name of a Service that their pods no longer have: of those that the ledger knows (since="ledger"), or of those delivered since the start (since="start").',
    ['signer', 'since'],
  ),
};

/** Counts outdated leaves, of one source only, because both would be summed. */
export function countOutdatedNames(
  metrics: SeriesRecorder,
  signer: string,
  { leaves, since }: { readonly leaves: number; readonly since: 'ledger' | 'start' },
): void {
  const { podNamesOutdated } = metrics.of(POD_SERIES);
  podNamesOutdated.set({ signer, since }, leaves);
  podNamesOutdated.remove({ signer, since: since === 'start' ? 'ledger' : 'start' });
}
