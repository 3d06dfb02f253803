// SPDX-License-Identifier: Apache-2.0
/** One process serves several kinds of issuers, such as an Issuer and a ClusterIssuer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { authoritiesOf } from '#library/authorities.ts';
import { defineAuthority, roles, type AuthorityType, type SigningRequest } from '#library/index.ts';
import { CSR, ISSUER, csrObject, issuerObject, ok, startWorld } from './world.ts';

const TEAM_ISSUER = '/apis/example.com/v1/namespaces/team-a/teamissuers/one';
const TEAM_SIGNER = 'teamissuers.example.com/team-a.one';

function teamAuthority(more: { name?: string; plural?: string } = {}): {
  readonly authority: AuthorityType;
  readonly signs: SigningRequest[];
} {
  const signs: SigningRequest[] = [];
  const { name = 'test-ca', plural = 'teamissuers' } = more;
  const kind = {
    group: 'example.com',
    version: 'v1',
    kind: 'TeamIssuer',
    plural,
    namespaced: true,
  };
  const authority = defineAuthority<unknown>({
    name,
    issuer: kind,
    schema: { parse: (value) => value },
    check: () => Promise.resolve(),
    sign: (request, issuer, ctx) => {
      signs.push(request);
      return ok(request, issuer, ctx);
    },
  });
  return { authority, signs };
}

function teamIssuer(): ReturnType<typeof issuerObject> {
  const object = issuerObject({}, { namespace: 'team-a', uid: 'team-issuer' });
  return { ...object, kind: 'TeamIssuer' };
}

const signedCertificate = (status: unknown): unknown =>
  (status as { certificate?: string } | undefined)?.certificate;

test('one process checks and signs for each kind by that kind’s own functions', async () => {
  const team = teamAuthority();
  const it = await startWorld({}, {}, [team.authority]);
  try {
    it.api.put(ISSUER, issuerObject());
    it.api.put(TEAM_ISSUER, teamIssuer());
    await it.settle();
    assert.equal(it.ready()?.reason, 'Checked');
    const [ready] = it.conditionsOf(TEAM_ISSUER);
    assert.equal(ready?.reason, 'Checked');
    const own = csrObject('own');
    const teams = csrObject('teams');
    it.api.put(`${CSR}/own`, own);
    it.api.put(`${CSR}/teams`, {
      ...teams,
      spec: { ...(teams.spec as object), signerName: TEAM_SIGNER },
    });
    await it.settle();
    assert.deepEqual(
      [it.author.signs, team.signs].map((signs) => signs.map(({ uid }) => uid)),
      [['own-uid'], ['teams-uid']],
    );
    for (const name of ['own', 'teams'])
      assert.ok(signedCertificate(it.api.get(`${CSR}/${name}`)?.status), name);
  } finally {
    await it.stop();
  }
});

test('each loop of each kind has a queue of its own', async () => {
  const it = await startWorld({}, {}, [teamAuthority().authority]);
  await it.stop();
  assert.deepEqual(it.loops.toSorted(), [
    'issuers',
    'pods',
    'teamissuers',
    'teamissuers/issuers',
    'teamissuers/pods',
  ]);
});

test('an issuer of one kind that is away keeps no other kind from its work', async () => {
  const team = teamAuthority();
  const it = await startWorld({}, {}, [team.authority]);
  try {
    it.author.check = () => Promise.reject(new Error('CA is away'));
    it.api.put(ISSUER, issuerObject());
    it.api.put(TEAM_ISSUER, teamIssuer());
    await it.settle();
    assert.deepEqual(
      [it.ready()?.reason, it.conditionsOf(TEAM_ISSUER)[0]?.reason],
      ['Pending', 'Checked'],
    );
  } finally {
    await it.stop();
  }
});

test('the process checks and prints the permissions for all its kinds', async () => {
  const team = teamAuthority();
  const it = await startWorld({}, {}, [team.authority]);
  await it.stop();
  const checked = it.controller.permissions().flatMap(({ resources }) => resources);
  assert.ok(checked.includes('testissuers') && checked.includes('teamissuers/status'));
  const signerNames = ['testissuers.example.com/one', TEAM_SIGNER];
  const printed = roles([team.authority, teamAuthority({ plural: 'others' }).authority], {
    signerNames,
    namespace: 'signers',
  });
  const documents = parseAllDocuments(printed).map((each) => each.toJS() as { kind: string });
  assert.equal(documents.filter(({ kind }) => kind === 'ServiceAccount').length, 1);
  for (const each of ['teamissuers', 'teamissuers/status', 'others', 'others/status'])
    assert.match(printed, new RegExp(`- ${each}$`, 'm'));
});

test('the kinds of a process are several kinds, under one name', () => {
  const { authority } = teamAuthority();
  assert.throws(() => authoritiesOf([]), /the list is empty/);
  assert.throws(() => authoritiesOf([authority, authority]), /kind of two authorities/);
  const other = teamAuthority({ name: 'other-ca', plural: 'others' }).authority;
  assert.throws(() => authoritiesOf([authority, other]), /need one name.*"test-ca" and "other-ca"/);
});
