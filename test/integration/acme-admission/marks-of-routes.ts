// SPDX-License-Identifier: Apache-2.0
import { until } from '../../cluster/until.ts';

type Write = (
  writer: 'somebody',
  says: RegExp,
  command: readonly string[],
  object: object,
) => Promise<void>;

/** How an AcmeClusterSigner is written, whose signer name and Secrets `somebody` may use. */
export interface MarkedWrites {
  readonly refused: Write;
  readonly allowed: (
    writer: 'somebody' | undefined,
    command: readonly string[],
    object: object,
  ) => Promise<void>;
  /** The signer with these solvers. */
  readonly solvers: (...more: readonly object[]) => object;
  /** Gives `somebody` a right. */
  readonly grant: (rule: object) => Promise<void>;
}

const REPLACE = ['replace', '-f', '-'];
/** The API server hears of a new grant within a few seconds. */
const SOON = 60_000;

/** Labels and annotations of routes are for who may make such a route beside the components. */
export async function marksOfRoutes(writes: MarkedWrites): Promise<void> {
  const { refused, allowed, solvers } = writes;
  const marked = (text: string): object => ({
    name: 'marked',
    http01: { ingress: { annotations: { 'example.com/note': text } } },
  });
  const denied = /may not create ingresses in namespace countersign-system/;
  await refused('somebody', denied, REPLACE, solvers(marked('a')));
  // Those of an administrator stay, and the rest can be changed.
  await allowed(undefined, REPLACE, solvers(marked('a')));
  await allowed('somebody', REPLACE, solvers(marked('a'), { name: 'http', http01: {} }));
  await refused('somebody', denied, REPLACE, solvers(marked('b')));
  await writes.grant({
    apiGroups: ['networking.k8s.io'],
    resources: ['ingresses'],
    verbs: ['create'],
  });
  await until('the right to create Ingresses is heard', SOON, async () => {
    await allowed('somebody', REPLACE, solvers(marked('b')));
    return true;
  });
  const ofGateway = { name: 'gw', http01: { gateway: { name: 'g', labels: { a: 'b' } } } };
  await refused('somebody', /may not create httproutes/, REPLACE, solvers(ofGateway));
}
