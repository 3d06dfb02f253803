// SPDX-License-Identifier: Apache-2.0
import { until } from '../../cluster/until.ts';
import type { ComponentProcess } from '../../support/cluster/component-process.ts';

const WAIT_MS = 240_000;

/**
 * Waits until an endpoint serves: else the first look fails, and the second waits for its back-off.
 */
export async function serves(endpoint: ComponentProcess): Promise<void> {
  await until('it serves its bundle', WAIT_MS, async () => {
    const { status, text } = await endpoint.readyz();
    return status === 200 && !/warning: (?:trust domain|https_)/.test(text);
  });
}

/** The port of a profile, as the log names it. */
export function servedPort(
  { log }: ComponentProcess,
  profile: 'https_web' | 'https_spiffe',
): number {
  const line = log.find((each) => each['msg'] === 'serves SPIFFE bundles');
  return (line?.['ports'] as Readonly<Record<string, number>> | undefined)?.[profile] ?? 0;
}
