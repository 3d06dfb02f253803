// SPDX-License-Identifier: Apache-2.0
import type { Client } from '#kube/client/client.ts';

/** Done well within the minute that the API server gives to a request, on a busy machine too. */
const AT_ONCE = 2_000;

/** Deletes a collection, however large; resolves when nothing of it is left. */
export async function removeAll(
  client: Client,
  path: string,
  selector: { readonly fieldSelector?: string; readonly labelSelector?: string } = {},
): Promise<void> {
  const query = { ...selector, limit: AT_ONCE };
  for (;;) {
    const { items } = await client.request<{ items?: readonly unknown[] | null }>({
      method: 'DELETE',
      path,
      query,
    });
    if ((items ?? []).length === 0) return;
  }
}
