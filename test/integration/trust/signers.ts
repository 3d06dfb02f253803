// SPDX-License-Identifier: Apache-2.0
/** Laws of what Signers publish in their own namespace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateBlocks } from '#pki/x509/trust-bundle.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import { until } from '../../cluster/until.ts';
import type { ComponentProcess } from '../../support/cluster/component-process.ts';
import { applyTeamCa, applyTeamSigner } from '../../support/cluster/namespaced-signers.ts';

const WAIT_MS = 120_000;
const NAME = 'signers.countersign.dev';

/**
 * A namespace where the Secret of a Signer was granted, one where none was, and one where somebody
 * has that name.
 */
export const TEAMS = { granted: 'signing', withheld: 'withheld', taken: 'taken' } as const;

interface Found {
  readonly metadata: { readonly uid: string };
  readonly data?: Readonly<Record<string, string>>;
}

/** Declares the laws. @param running - called in the tests */
export function signersPublish(
  running: () => { readonly cluster: Cluster; readonly component: ComponentProcess },
): void {
  const kubectl = async (...args: readonly string[]): Promise<string> =>
    (await running().cluster.kubectl(args)).stdout;
  const configMap = async (namespace: string): Promise<Found | undefined> => {
    const get = ['get', 'configmap', NAME, '-n', namespace, '--ignore-not-found', '-o', 'json'];
    const text = await kubectl(...get);
    return text === '' ? undefined : (JSON.parse(text) as Found);
  };
  const holds = (
    namespace: string,
    wanted: Readonly<Record<string, readonly string[]>>,
  ): Promise<unknown> =>
    until(`${namespace} has ${Object.keys(wanted).join()}`, WAIT_MS, async () => {
      const { data = {} } = (await configMap(namespace)) ?? {};
      return (
        JSON.stringify(sorted(mapped(data))) === JSON.stringify(sorted(mapped(joined(wanted))))
      );
    });
  const team = async (namespace: string, name: string): Promise<string> => {
    const { cluster } = running();
    const consentsTo = `signers.countersign.dev/${namespace}.${name}`;
    const { certificate } = await applyTeamCa(cluster, {
      namespace,
      name: `${name}-ca`,
      consentsTo,
    });
    const authority = { secret: { name: `${name}-ca` } };
    await applyTeamSigner(cluster, { namespace, name }, { authority });
    return certificate;
  };
  const { granted, withheld, taken } = TEAMS;
  let web = '';

  test('a Signer publishes its CA only in its own namespace, without a label', async () => {
    web = await team(granted, 'web');
    await holds(granted, { 'web.crt': [web] });
    const all = await kubectl(
      'get',
      'configmaps',
      '-A',
      '-o',
      'name',
      '--field-selector',
      `metadata.name=${NAME}`,
    );
    assert.equal(all.trim().split('\n').length, 1);
  });

  test('what somebody changes, adds or deletes of it is healed', async () => {
    const patch = ['patch', 'configmap', NAME, '-n', granted, '--type=merge', '-p'];
    await kubectl(...patch, JSON.stringify({ data: { 'web.crt': 'none', 'more.crt': 'x' } }));
    await holds(granted, { 'web.crt': [web] });
    await kubectl('delete', 'configmap', NAME, '-n', granted);
    await holds(granted, { 'web.crt': [web] });
  });

  test('a CA that the team replaces stays beside the new one while its leaves live', async () => {
    const next = await team(granted, 'web');
    await holds(granted, { 'web.crt': [web, next] });
  });

  test('of two Signers each has its own key, and the key goes with its Signer', async () => {
    const db = await team(granted, 'db');
    await until('both are there', WAIT_MS, async () => {
      const { data = {} } = (await configMap(granted)) ?? {};
      return Object.keys(data).sort().join() === 'db.crt,web.crt';
    });
    await kubectl('delete', 'signers.countersign.dev', 'web', '-n', granted);
    await holds(granted, { 'db.crt': [db] });
  });

  test('the ConfigMap goes with the last Signer', async () => {
    await kubectl('delete', 'signers.countersign.dev', 'db', '-n', granted);
    await until('it is gone', WAIT_MS, async () => (await configMap(granted)) === undefined);
  });

  test('a ConfigMap of that name that was there is left alone', async () => {
    await kubectl('create', 'configmap', NAME, '-n', taken, '--from-literal=web.crt=mine');
    const mine = await configMap(taken);
    const ca = await team(taken, 'web');
    const refused = new RegExp(
      `signer="${NAME.replaceAll('.', '\\.')}"[^}]*outcome="refused"[^}]*\\} [1-9]`,
    );
    await until('it says that it leaves it alone', WAIT_MS, async () =>
      refused.test(await running().component.metrics()),
    );
    assert.deepEqual(await configMap(taken), mine);
    await kubectl(
      'annotate',
      'configmap',
      NAME,
      '-n',
      taken,
      `countersign.dev/signer-name=${NAME}`,
    );
    await holds(taken, { 'web.crt': [ca] });
    assert.equal((await configMap(taken))?.metadata.uid, mine?.metadata.uid);
  });

  test('without a granted Secret nothing is written or rejected; the component is ready', async () => {
    await team(withheld, 'web');
    const { component, cluster } = running();
    await until('it says what is missing', WAIT_MS, () =>
      component.log.some((line) => JSON.stringify(line).includes(`--signer-secret ${withheld}/`)),
    );
    assert.equal((await component.readyz()).status, 200);
    assert.equal(await configMap(withheld), undefined);
    await cluster.kubectl(['delete', 'signers.countersign.dev', 'web', '-n', withheld]);
  });
}

type Keys = Readonly<Record<string, string>>;

function joined(wanted: Readonly<Record<string, readonly string[]>>): Keys {
  return Object.fromEntries(Object.entries(wanted).map(([key, texts]) => [key, texts.join('\n')]));
}

/** Each key with its certificates, in any order. */
function mapped(data: Keys): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [
      key,
      certificateBlocks(text)
        .map((der) => Buffer.from(der).toString('base64'))
        .sort(),
    ]),
  );
}

function sorted(of: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1));
}
