// SPDX-License-Identifier: Apache-2.0
import type { Host } from '#component/host.ts';
import { createApprover } from './index.ts';

/**
 * Runs the component that approves and denies CertificateSigningRequests, until it is stopped. Its
 * imports never reach code that reads a key.
 */
export async function run(host: Host): Promise<void> {
  await host.run((component) => Promise.resolve(createApprover(component)));
}
