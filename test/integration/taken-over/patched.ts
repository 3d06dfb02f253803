// SPDX-License-Identifier: Apache-2.0
import { createClient } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { loadConnection } from '#kube/client/kubeconfig.ts';

/** `kubectl` reads before it patches, which is refused already: so by our own client. */
export async function patched(
  path: string,
  body: Readonly<Record<string, unknown>>,
  kubeconfig: string,
): Promise<{ readonly code: number; readonly stderr: string }> {
  const connection = await loadConnection({ kubeconfig, clock: Date.now });
  const clocks = { clock: Date.now, monotonic: () => performance.now() };
  const client = createClient({ connection, ...clocks, userAgent: 'countersign-test' });
  const contentType = 'application/merge-patch+json';
  try {
    await client.request({ method: 'PATCH', path, body, contentType });
    return { code: 0, stderr: '' };
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { code: 1, stderr: `${error.message}${error.status === 403 ? ' (Forbidden)' : ''}` };
  } finally {
    await client.close();
  }
}
