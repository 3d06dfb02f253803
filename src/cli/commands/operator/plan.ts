// SPDX-License-Identifier: Apache-2.0
import type { OperatorFlags } from '../../../app/component-options.ts';
import { COUNTERSIGNS, type Countersign } from '../../../api/operator/countersign.ts';
import { SINGLETON } from '../../../api/operator/installation.ts';
import { isRefusal } from '../../../installing/desired.ts';
import { SignerError } from '../../../errors.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ignoreNotFound } from '../../../kube/client/kube-error.ts';
import { resource } from '../../../kube/resource/resource.ts';
import { desiredInstallation } from '../../../manifests/operator/desired.ts';
import { judge, type Judgement } from '../../../reconciling/objects/judge.ts';
import { ruleOf } from '../../../reconciling/objects/kinds.ts';
import { titleOf, type ManagedObject } from '../../../reconciling/objects/managed-object.ts';
import { MANAGED_BY, isMarked, marked, superfluous } from '../../../reconciling/objects/mark.ts';
import { printable } from '../../../quote.ts';
import { createWriter } from '../../../reconciling/writer.ts';
import { printText } from '../../terminal.ts';
import { connectUser, type UserOptions } from '../../user-client.ts';
import { readCountersign } from './countersign-file.ts';

/** Flags of `countersign operator plan`. */
export interface PlanOptions extends UserOptions, OperatorFlags {
  readonly file?: string;
  readonly namespace: string;
  readonly secretNamespace: string;
}

const LABEL = 'countersign';

/**
 * Prints one line for each object that is not as it is desired, and a summary. Changes nothing.
 *
 * @returns the exit code: 0; 3 where the operator would refuse the spec
 * @throws SignerError USAGE (`fail`) where there is no Countersign
 */
export async function runPlan(options: PlanOptions): Promise<number> {
  const { client } = await connectUser(options, 'operator');
  try {
    return await printPlan(client, options);
  } finally {
    await client.close();
  }
}

async function printPlan(client: Client, options: PlanOptions): Promise<number> {
  const inCluster = await countersignIn(client);
  const object = options.file === undefined ? inCluster : await readCountersign(options.file);
  if (object === undefined) {
    throw new SignerError({
      code: 'USAGE',
      disposition: 'fail',
      message: `there is no Countersign ${SINGLETON} in the cluster; name one in a file with --file`,
    });
  }
  const desired = desiredInstallation(object.spec, {
    ...{ namespace: options.namespace, keysNamespace: options.secretNamespace },
    ...{ image: options.image, allowedImages: options.allowImage },
    dangerZone: options.allowDangerZone,
  });
  if (isRefusal(desired)) {
    printText(
      `${printable(`refused, nothing would change: ${desired.reason}: ${desired.message}`)}\n`,
    );
    return 3;
  }
  const owner = {
    ...{ apiVersion: object.apiVersion, kind: object.kind, name: SINGLETON },
    ...{ uid: inCluster?.metadata.uid ?? '', label: LABEL },
  };
  const writer = createWriter(client, 'countersign-plan');
  const lines: string[] = [];
  for (const each of desired.objects) {
    const wanted = marked(each, owner);
    const live = await writer.read(wanted);
    const line = lineOf(judge(wanted, live), live);
    if (line !== undefined) lines.push(printable(line));
  }
  const same = desired.objects.length - lines.length;
  const there = inCluster === undefined ? [] : await markedIn(client, desired.objects);
  const removed = superfluous(there, desired.objects, owner).map((each) =>
    printable(`remove  ${titleOf(each)}`),
  );
  const count = lines.length + removed.length;
  printText([...lines, ...removed, `${count} to change, ${same} as desired`, ''].join('\n'));
  return 0;
}

/** The objects with our label, in the collections of these. */
async function markedIn(
  client: Client,
  objects: readonly ManagedObject[],
): Promise<readonly ManagedObject[]> {
  const collections = new Map(
    objects
      .filter((each) => ruleOf(each).owned)
      .map((each) => [ruleOf(each).resource.collection(each.metadata.namespace), each]),
  );
  const lists = await Promise.all(
    [...collections].map(async ([path, { apiVersion, kind }]) => {
      const query = { labelSelector: `${MANAGED_BY}=${LABEL}` };
      const list = await client
        .request<{ readonly items: readonly ManagedObject[] }>({ method: 'GET', path, query })
        .catch(ignoreNotFound);
      // Items of a list do not say what they are.
      return (list?.items ?? []).map((each) => ({ ...each, apiVersion, kind }));
    }),
  );
  return lists.flat();
}

function countersignIn(client: Client): Promise<Countersign | undefined> {
  const path = resource(COUNTERSIGNS).object({ name: SINGLETON });
  return client.request<Countersign>({ method: 'GET', path }).catch(ignoreNotFound);
}

/** Words of the same width, so that the objects stand below each other. */
const WORDS: Readonly<Record<Judgement['action'], string>> = {
  make: 'make   ',
  apply: 'change ',
  remake: 'remake ',
  correct: 'clean  ',
  leave: 'report ',
};

function lineOf(
  { action, desired, paths, problem }: Judgement,
  live: ManagedObject | undefined,
): string | undefined {
  if (action === 'leave') return problem === undefined ? undefined : `${WORDS.leave} ${problem}`;
  const adopted = live !== undefined && action === 'apply' && !isMarked(live, LABEL);
  const word = adopted ? 'adopt  ' : WORDS[action];
  const detail = adopted || paths.length === 0 ? '' : `  ${paths.join(' ')}`;
  return `${word} ${titleOf(desired)}${detail}`;
}
