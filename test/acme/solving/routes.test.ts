// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRouteSolver } from '#acme/solving/http/routes.ts';
import { challengeFor } from './solver-context.ts';

const NEVER = new AbortController().signal;

/** Looks at an HTTPRoute whose Gateway's controller wrote these parents. */
async function lookAt(status: object | undefined): Promise<string | undefined> {
  const methods: string[] = [];
  const client = {
    request: ({ method }: { readonly method: string }) => {
      methods.push(method);
      return Promise.resolve({ kind: 'HTTPRoute', ...(status === undefined ? {} : { status }) });
    },
  };
  const context = { client, ownNamespace: 'countersign' } as never;
  const { look } = createRouteSolver({ gateway: { name: 'edge' } }, context);
  const found = await look?.(challengeFor('a.example', 'u'), NEVER);
  assert.deepEqual(methods, ['PATCH'], 'a look needs no right to read');
  return found;
}

const parent = (...conditions: readonly object[]): object => ({
  parents: [{ controllerName: 'example.com/gateway', conditions }],
});
const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' };

test('a route that its Gateway does not admit is reported with the condition', async () => {
  // RouteReasonNotAllowedByListeners of the Gateway API.
  const refused = {
    type: 'Accepted',
    status: 'False',
    reason: 'NotAllowedByListeners',
    message: 'from: Same\u001b[31m',
  };
  assert.match(
    (await lookAt(parent(refused))) ?? '',
    /^the Gateway "edge" does not serve HTTPRoute countersign\/\S+: Accepted is False by "example\.com\/gateway": "NotAllowedByListeners" "from: Same\\u001b\[31m"/,
  );
  const backend = { type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound' };
  assert.match((await lookAt(parent(accepted, backend))) ?? '', /ResolvedRefs .*"BackendNotFound"/);
});

test('a route that no controller has taken is reported so', async () => {
  for (const status of [undefined, {}, { parents: [] }])
    assert.match((await lookAt(status)) ?? '', /^no controller has taken HTTPRoute /);
});

test('an admitted route is no problem, and an Ingress has no conditions', async () => {
  const resolved = { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs' };
  assert.equal(await lookAt(parent(accepted, resolved)), undefined);
  assert.equal(createRouteSolver({ ingress: {} }, {} as never).look, undefined);
});
