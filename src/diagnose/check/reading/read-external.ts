// SPDX-License-Identifier: Apache-2.0
import { readExternalSigner, type ExternalSigner } from '#api/external/external-signer.ts';
import { EXTERNAL_CLUSTER_SIGNERS } from '#api/external/names.ts';
import type { KubeObject } from '#api/object/object.ts';
import { SignerError, attempt } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import type { ExternalSignerFacts, SignerFacts } from '../facts.ts';
import type { ReadResult } from '../finding.ts';
import { listVisible, mapSeen } from './list-visible.ts';

/** Lists the ExternalClusterSigners. Empty if the kind is not installed. */
export async function readExternal(client: Client): Promise<ReadResult<ExternalSignerFacts>> {
  const seen = await listVisible<KubeObject, KubeObject>(
    client,
    EXTERNAL_CLUSTER_SIGNERS,
    (object) => [object],
  );
  return mapSeen(seen, (objects) => {
    const signers: ExternalSigner[] = [];
    const invalid: { name: string; why: string }[] = [];
    for (const object of objects) {
      const signer = attempt(() => readExternalSigner(object));
      if (!(signer instanceof SignerError)) signers.push(signer);
      else invalid.push({ name: object.metadata.name, why: signer.message });
    }
    return { signers, invalid };
  });
}

/** Adds the names of ExternalClusterSigners, which roles list as well. */
export function withExternalNames(
  signers: ReadResult<SignerFacts>,
  external: ReadResult<ExternalSignerFacts>,
): ReadResult<SignerFacts> {
  if (!('value' in external) || external.value.signers.length === 0) return signers;
  const names = { signers: external.value.signers.map(({ spec }) => spec.signerName) };
  return mapSeen(signers, (facts) => ({
    ...facts,
    installation: { ...facts.installation, external: names },
  }));
}
