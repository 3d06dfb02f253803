// SPDX-License-Identifier: Apache-2.0
import type { KubeObject } from '#api/object/object.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Authority } from '#ca/custody/contract.ts';
import type { AuthoritySources } from '#requests/ca/authority-sources.ts';
import type { IssuingCa } from '#requests/issuing/issuing-ca.ts';
import { localCas, type LocalCaOf } from '#requests/issuing/local-ca.ts';
import { workload } from '../signers/workload-profile.ts';

/** Issues by this CA, as for a signer whose Secret holds it and that may sign. */
export function localCaOf(
  component: Parameters<typeof localCas>[0],
  authority: Authority,
  signer: ClusterSigner = workload(),
  intermediateCa?: LocalCaOf,
): IssuingCa<KubeObject> {
  const sources: AuthoritySources = {
    usable: () => authority,
    serve: () => undefined,
    listed: () => true,
    onChange: () => undefined,
    notReady: () => [],
    stop: () => Promise.resolve(),
  };
  const refusals = {
    serve: () => undefined,
    listed: () => true,
    onChange: () => undefined,
    notReady: () => [],
    stop: () => Promise.resolve(),
    refusalOf: () => undefined,
  };
  return localCas(component, sources, refusals, intermediateCa).issuing(signer);
}
