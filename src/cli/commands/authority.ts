// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../../authorities/local.ts';
import { createManagedAuthorities } from '../../authorities/managed.ts';
import { createAuthorityController } from '../../controllers/authority/index.ts';
import type { ComponentOptions } from '../component-options.ts';
import { runComponent } from '../component.ts';

export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('authority', options, (component) =>
    Promise.resolve(
      createAuthorityController({
        component,
        open: openLocalAuthority,
        create: createManagedAuthorities(component.random),
      }),
    ),
  );
}
