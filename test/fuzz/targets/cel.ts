// SPDX-License-Identifier: Apache-2.0
/**
 * CEL as a tenant writes it into a Signer: compiled, then run on a request that is hostile where it
 * can be.
 */
import { compileExpression } from '#cel/compile.ts';
import { POD } from '../../support/cel/pod-environment.ts';
import { SignerError } from '#base/errors.ts';
import { TRUE } from '../../support/cel/expressions.ts';
import type { Target } from '../engine.ts';

const LONG = 'a'.repeat(250);
const POD_VARIABLES = {
  pod: {
    namespace: 'team-a',
    name: LONG,
    uid: '00000000-0000-4000-8000-000000000000',
    serviceAccount: LONG,
    serviceAccountUID: '00000000-0000-4000-8000-000000000001',
    node: 'node-1',
    nodeUID: '00000000-0000-4000-8000-000000000002',
    annotations: { 'example.com/role': `${LONG}é😀` },
  },
};

export const cel: Target = {
  name: 'cel',
  seeds: [
    ...TRUE,
    "pod.namespace.startsWith('team-')",
    "pod.annotations.exists(k, k == 'a' && pod.annotations[k].matches('^(a|b)+$'))",
    "pod.name.split('-').map(each, each.size()).exists(n, 10 / n == 1) || true",
    "'x' in pod.annotations ? pod.annotations['x'].substring(1) == '' : false",
  ].map((text) => Buffer.from(text)),
  words: [
    'exists',
    'all',
    'map',
    'filter',
    'matches',
    'split',
    'join',
    'replace',
    '||',
    '&&',
    '?',
    '(?:',
    '{2,}',
    '\\b',
    '\\B',
    '[ab]',
    '.*',
    'pod.name',
    'pod.annotations',
    '1/0',
    "''",
    'format',
    'findAll',
    'lowerAscii',
    'indexOf',
    'quantity(',
    'ip(',
    'cidr(',
    'url(',
  ],
  maxBytes: 2048,
  isExpected: (error) => error instanceof SignerError,
  run: (input) => {
    const source = Buffer.from(input).toString('utf8');
    const compiled = compileExpression({
      source,
      where: 'spec.pods.allow',
      environment: POD,
      result: 'bool',
    });
    compiled.evaluate(POD_VARIABLES);
  },
};
