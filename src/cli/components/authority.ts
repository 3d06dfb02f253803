// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_SIGNER } from '../../api/signer/own-tls.ts';
import { createCrossSign } from '../../authorities/cross-sign.ts';
import { openLocalAuthority } from '../../authorities/local.ts';
import { createManagedAuthorities } from '../../authorities/managed.ts';
import { createAuthorityController } from '../../controllers/authority/index.ts';
import { certificatesResources } from '../../app/certificates-resources.ts';
import { runComponent } from '../../app/component.ts';
import { VERSION } from '../../app/version.ts';
import type { AuthorityComponentOptions } from '../../app/component-options.ts';

/** Runs the component that checks ClusterSigners, manages CAs and writes their status, until it is stopped. */
export async function run(options: AuthorityComponentOptions): Promise<void> {
  await runComponent('authority', options, async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    const namespace = options.servingNamespace ?? component.leases?.namespace;
    const { servingSigner: signerName = OWN_TLS_SIGNER } = options;
    const accountKeys = options.acmeAccountKeys
      ? await import('../../controllers/authority/account-keys/index.ts')
      : undefined;
    return createAuthorityController({
      component,
      bundles,
      open: openLocalAuthority,
      create: createManagedAuthorities(component.random),
      crossSign: createCrossSign(component.random),
      version: VERSION,
      targetDeadlineSeconds: options.targetDeadline,
      createAccountKeys: accountKeys?.createAccountKeys,
      ownTls: namespace === undefined ? undefined : { namespace, signerName },
    });
  });
}
