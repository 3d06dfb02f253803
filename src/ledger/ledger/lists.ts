// SPDX-License-Identifier: Apache-2.0
/** The CRLs that `authority` writes into ConfigMaps, for the port that serves them. */
import { keyOf } from '#api/object/object.ts';
import { crlConfigMapName } from '#api/revocation/names.ts';
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isNamespaced } from '#api/signer/signer.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { createReflector } from '#kube/watch/reflector.ts';
import { createWatchSet } from '#kube/watch/watch-set.ts';
import { decodeCertificateList } from '#pki/x509/certificate-list.ts';
import type { CrlConfigMap } from '#ca/revocation/published.ts';
import type { Component } from '#component/contract.ts';
import { watchSigners } from '#component/signers/signers.ts';
import * as messages from './messages.ts';

/** A CRL to serve. Times are in milliseconds. */
interface HeldList {
  readonly der: Uint8Array;
  readonly thisUpdate: number;
  readonly nextUpdate: number;
}

/** The CRLs of ClusterSigners with `profile.crl`. */
export interface Lists {
  /** @param hex - the fingerprint of the CA */
  readonly listOf: (hex: string) => HeldList | undefined;
  /** Reports whether every ConfigMap was listed once. */
  readonly isComplete: () => boolean;
  /** Returns the CA Secrets beside which the ConfigMaps are. */
  readonly secrets: () => readonly { readonly namespace: string; readonly name: string }[];
  readonly warnings: () => readonly string[];
  readonly run: (signal: AbortSignal) => Promise<void>;
}

const KEY = /^([0-9a-f]{64})\.crl$/;

/** Watches the ConfigMaps of CRLs, each by its name. */
export function createLists(component: Component): Lists {
  const signers = watchSigners({ ...component, namespacedSigners: false });
  const byConfigMap = new Map<string, ReadonlyMap<string, HeldList>>();
  const withCrl = (): readonly ClusterSigner[] =>
    signers.all().filter((each) => each.spec.profile.crl !== undefined && !isNamespaced(each));
  const watches = createWatchSet<CrlConfigMap>((key) => {
    const [namespace = '', name = ''] = key.split('/');
    return createReflector<CrlConfigMap>({
      ...component,
      path: CONFIG_MAPS.collection(namespace),
      // With resourceNames, RBAC grants list and watch for exactly this field selector only.
      fieldSelector: `metadata.name=${name}`,
      onEvent: (_key, now) => {
        if (now === undefined) byConfigMap.delete(key);
        else byConfigMap.set(key, listsIn(now));
      },
    });
  });
  signers.onChange(() => {
    const keys = new Set(withCrl().map(configMapOf));
    watches.reconcile([...keys]);
    for (const key of byConfigMap.keys()) if (!keys.has(key)) byConfigMap.delete(key);
  });
  return {
    listOf: (hex) => [...byConfigMap.values()].flatMap((each) => each.get(hex) ?? [])[0],
    isComplete: () => signers.settled && watches.entries().every(([, { synced }]) => synced),
    secrets: () => withCrl().map(({ spec }) => secretOf(spec)),
    warnings: () =>
      watches
        .entries()
        .flatMap(([key, { failure }]) =>
          failure === undefined ? [] : [messages.crlsUnreadable(key, failure)],
        ),
    run: async (signal) => {
      await signers.run(signal);
      await watches.stop();
    },
  };
}

function configMapOf({ spec }: ClusterSigner): string {
  const { namespace, name } = secretOf(spec);
  return keyOf({ namespace, name: crlConfigMapName(name) });
}

/** Returns the parseable CRLs. Verifiers check their signatures. */
function listsIn({ binaryData = {} }: CrlConfigMap): ReadonlyMap<string, HeldList> {
  return new Map(
    Object.entries(binaryData).flatMap(([key, base64]): [string, HeldList][] => {
      const hex = KEY.exec(key)?.[1];
      const list = attempt(() => decodeCertificateList(Buffer.from(base64, 'base64')));
      if (hex === undefined || list instanceof SignerError) return [];
      const { raw: der, thisUpdate, nextUpdate } = list;
      return [[hex, { der, thisUpdate, nextUpdate }]];
    }),
  );
}
