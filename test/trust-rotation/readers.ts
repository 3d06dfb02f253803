// SPDX-License-Identifier: Apache-2.0
/** What a verifier that reads a target trusts, at each revision. */
import { caBundleTargetText, type CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import type { ConfigMap } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import type { StoredObject } from '#kube/resource/object.ts';
import { resourceOf } from '#api/object/ca-bundle-object.ts';
import { configured } from '../integration/trust/ca-bundles.ts';
import { BROKEN } from '../integration/trust/rotation.ts';
import { follow, type Followed } from './follow.ts';

/** What a target held from this revision on. */
export interface Version {
  readonly revision: number;
  /** PEM, or a PKCS#12 file in base64. */
  readonly trust: string;
}

/** The targets of one signer but the broken one: each with all that it ever held. */
export class Readers {
  readonly versions = new Map<string, Version[]>();
  readonly #watches: Followed[] = [];

  /** @param configMap - the name of the ConfigMaps */
  async start(
    client: Client,
    configMap: string,
    caBundles: readonly CaBundleTarget[],
  ): Promise<void> {
    const named = { path: '/api/v1/configmaps', fieldSelector: `metadata.name=${configMap}` };
    const copies = follow(client, named, (key, now) => {
      this.#heardOfCopy(key, now as (ConfigMap & StoredObject) | undefined);
    });
    const objects = caBundles.map((target) => {
      const path = resourceOf(target.resource).collection();
      const fieldSelector = `metadata.name=${target.name}`;
      return follow(client, { path, fieldSelector }, (_key, now) => {
        if (now === undefined) return;
        for (const [at, trust] of configured(now).entries())
          this.#heard(`${caBundleTargetText(target)} ${at}`, now, trust);
      });
    });
    this.#watches.push(...(await Promise.all([copies, ...objects])));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#watches.map((each) => each.stop()));
  }

  /** What readers of this target may hold when a leaf is delivered at that revision, and later. */
  since(target: string, revision: number): readonly Version[] {
    const all = this.versions.get(target) ?? [];
    const from = all.findLastIndex((each) => each.revision <= revision);
    return all.slice(Math.max(0, from));
  }

  #heardOfCopy(key: string, now: (ConfigMap & StoredObject) | undefined): void {
    const [namespace] = key.split('/');
    if (now === undefined || namespace === BROKEN) return;
    this.#heard(key, now, now.data?.['ca.crt'] ?? '');
    const store = now.binaryData?.['truststore.p12'];
    if (store !== undefined) this.#heard(`${key} truststore.p12`, now, store);
  }

  #heard(target: string, { metadata }: StoredObject, trust: string): void {
    const version = { revision: Number(metadata.resourceVersion), trust };
    this.versions.set(target, [...(this.versions.get(target) ?? []), version]);
  }
}
