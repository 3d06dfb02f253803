// SPDX-License-Identifier: Apache-2.0
import { createApprover } from '../../controllers/approver/index.ts';
import type { ComponentOptions } from '../../app/component-options.ts';
import { runComponent } from '../../app/component.ts';

/** Runs the component that approves and denies CertificateSigningRequests. Its imports never reach code that reads a key, until it is stopped. */
export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('approver', options, (component) =>
    Promise.resolve(createApprover(component)),
  );
}
