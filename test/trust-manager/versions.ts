// SPDX-License-Identifier: Apache-2.0
import { createReflector } from '#kube/watch/reflector.ts';
import type { Client } from '#kube/client/client.ts';
import { CONFIG_MAPS } from '#kube/resource/core-v1.ts';
import { delay, random } from '../support/cluster/config-maps.ts';
import { recordedLog } from '../support/component/recorded-log.ts';

/** A ConfigMap, so far as it is read here. */
export interface Version {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly ownerReferences?: readonly object[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

/** Every version of one ConfigMap, since it was there. */
export interface Versions {
  /** Its namespace and name. */
  readonly what: string;
  readonly latest: () => Version | undefined;
  /** Versions whose `ca.crt` lacks a text, and moments at which it was gone. */
  readonly faults: (anchors: string) => readonly string[];
  readonly stop: () => void;
}

/** Begins with the first version that has anything. */
export function watchVersions(
  client: Client,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Versions {
  const seen: (Version | undefined)[] = [];
  const end = new AbortController();
  const reflector = createReflector<Version>({
    client,
    path: CONFIG_MAPS.collection(namespace),
    fieldSelector: `metadata.name=${name}`,
    clock: Date.now,
    delay,
    random,
    log: recordedLog(),
    metrics: {
      watchRestart: () => undefined,
      watchEvent: () => undefined,
      watchStopped: () => undefined,
    },
    onEvent: (_key, now) => seen.push(now),
  });
  void reflector.run(end.signal);
  return {
    what: `${namespace}/${name}`,
    latest: () => seen.at(-1),
    faults: (anchors) =>
      seen.flatMap((each, index) => {
        if (each === undefined) return [`version ${index}: it is gone`];
        if (each.data?.['ca.crt']?.includes(anchors) === true) return [];
        return [`version ${index}: ca.crt is ${JSON.stringify(each.data?.['ca.crt'])}`];
      }),
    stop: () => {
      end.abort();
    },
  };
}
