// SPDX-License-Identifier: Apache-2.0
import { OWN_TLS_SIGNER } from '#api/signer/own-tls.ts';
import { createCrossSign } from '#ca/custody/cross-sign.ts';
import { openLocalAuthority } from '#ca/custody/local.ts';
import { createCaRequest, createManagedAuthorities } from '#ca/custody/managed.ts';
import { certificatesResources } from '#component/certificates-resources.ts';
import type { Host } from '#component/host.ts';
import type { AuthorityFlags } from './flags.ts';
import { createAuthorityController } from './index.ts';
import { connectHubs } from './upstream/hub/connect.ts';
import { vaultAccess } from '#component/vault/access.ts';

/**
 * Runs the component that checks ClusterSigners, manages CAs and writes their status, until it is
 * stopped.
 */
export async function run({
  flags,
  version,
  userAgent,
  components,
  ...host
}: Host<AuthorityFlags>): Promise<void> {
  const proxy = host.egressProxy();
  await host.run(async (component) => {
    const [bundles] = await certificatesResources(component.client, 'clustertrustbundles');
    const namespace = flags.servingNamespace ?? component.leases?.namespace;
    const { servingSigner: signerName = OWN_TLS_SIGNER, aggregatedApi } = flags;
    const accountKeys = flags.acmeAccountKeys ? await import('./account-keys/index.ts') : undefined;
    return createAuthorityController({
      component,
      bundles,
      open: openLocalAuthority,
      create: createManagedAuthorities(component.random),
      createRequest: createCaRequest,
      crossSign: createCrossSign(component.random),
      version,
      components,
      connectHub: connectHubs({ ...host, version }),
      targetDeadlineSeconds: flags.targetDeadline,
      createAccountKeys: accountKeys?.createAccountKeys,
      vaults: vaultAccess(flags.upstreamVault ?? new Map(), { userAgent, proxy }),
      ownTls:
        namespace === undefined ? undefined : { namespace, components, signerName, aggregatedApi },
    });
  });
}
