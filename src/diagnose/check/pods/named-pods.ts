// SPDX-License-Identifier: Apache-2.0
/** Names of pods in findings, and the command that deletes the pods. */
import type { KubeObject } from '#api/object/object.ts';
import { recreatingOwner, type Pod } from '#api/object/pod.ts';
import { shellWord } from '#base/quote.ts';

type NamedObject = Pick<KubeObject, 'metadata'>;

/** Maximum number of pods that a finding names. The others are counted. */
const MAX_LISTED_PODS = 3;

/** `2 pods (team-a/web-1, team-a/web-2)` */
export function podList(pods: readonly NamedObject[]): string {
  const names = pods.map(({ metadata: { namespace = '', name } }) => `${namespace}/${name}`);
  const shown = names.toSorted().slice(0, MAX_LISTED_PODS);
  const rest = names.length - shown.length;
  const text = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return `${names.length} ${names.length === 1 ? 'pod' : 'pods'} (${text})`;
}

/**
 * Returns one command for each namespace. The controller creates another pod, which gets a new
 * leaf. A comment names the pods without one.
 */
export function deleteCommand(pods: readonly Pod[]): string {
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace ?? '');
  const commands = [...byNamespace].map(([namespace, all]) => {
    const names = all.map(({ metadata }) => shellWord(metadata.name)).toSorted();
    return `kubectl -n ${shellWord(namespace)} delete pod ${names.join(' ')}`;
  });
  const bare = pods.filter((each) => recreatingOwner(each) === undefined);
  const comment = `   # no controller recreates ${podList(bare)}: recreate each from its manifest`;
  return commands.join(' && ') + (bare.length === 0 ? '' : comment);
}
