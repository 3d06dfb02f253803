// SPDX-License-Identifier: Apache-2.0
import { openLocalAuthority } from '../../authorities/local.ts';
import { createManagedAuthorities } from '../../authorities/managed.ts';
import { createAuthorityController } from '../../controllers/authority/index.ts';
import { certificatesResources } from '../certificates-resources.ts';
import type { ComponentOptions } from '../component-options.ts';
import { runComponent } from '../component.ts';
import { VERSION } from '../version.ts';

export async function run(options: ComponentOptions): Promise<void> {
  await runComponent('authority', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    return createAuthorityController({
      component,
      bundles,
      open: openLocalAuthority,
      create: createManagedAuthorities(component.random),
      version: VERSION,
    });
  });
}
