// SPDX-License-Identifier: Apache-2.0
/** Actions in a real browser, on a real API server: what they write, and what they never write. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../cluster/until.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Opened, Stand } from './recovery.ts';

/** A signer name of another program: no rule decides its requests. */
const UNRULED = 'nobody.example/unruled';
const WITHIN_MS = 30_000;
/** A successor is created, published and propagated first. */
const STOPPED_MS = 120_000;
const CONFIRM = 'button.confirm';

/** Declares the tests. @param stand - called in the tests */
export function testActing(stand: () => Stand): void {
  let acting: Opened;

  test('without the flag there is no action, and no path of one', async () => {
    const { start, open, createRequest } = stand();
    await createRequest('kept', UNRULED);
    const { page, base, context } = await open(await start());
    await page.goto(`${base}/requests?explain=csr/kept`);
    await page.waitForSelector('.explanation');
    await page.goto(`${base}/trust?signer=workload`);
    assert.equal(await page.locator('a[href*="/act"], form[method=post]').count(), 0);
    for (const path of ['act?verb=approve&subject=csr/kept', 'result?of=x', 'stop']) {
      assert.equal((await page.goto(`${base}/${path}`))?.status(), 404, path);
      const posted = await page.request.post(`${base}/${path}`, { headers: originOf(base) });
      assert.equal(posted.status(), 405, path);
    }
    await context.close();
  });

  test('a request is approved with a message, once, after its plan', async () => {
    const { cluster, start, open, createRequest, broken } = stand();
    acting = await open(await start('--allow-changes'));
    const { page, base } = acting;
    await createRequest('badge', UNRULED);
    await page.goto(`${base}/requests?signer=${UNRULED}`);
    await page.locator('#rows', { hasText: 'csr/badge' }).waitFor();
    await page.locator('#rows tr', { hasText: 'csr/badge' }).locator('a').click();
    await page.locator('a', { hasText: 'Approve…' }).click();
    assert.match(await textOf(page), /csr\/badge: approved \(dry run: nothing is stored\)/);
    assert.match(await textOf(page), /countersign approve csr\/badge/);
    // The requester chose this subject.
    assert.match(await textOf(page), /requested subject: .*<img src=x.*u\{202e\}gnp/);
    assert.equal(await page.locator('main img').count(), 0);
    assert.deepEqual(await broken(acting), []);
    await picture(page, 'plan');
    await page.fill('input[name=message]', 'seen her badge <b>');
    assert.deepEqual(await conditionsOf(cluster, 'badge'), []);
    // A person in a hurry.
    await page.locator(CONFIRM).dblclick();
    await page.locator('.verdict', { hasText: 'Done.' }).waitFor();
    assert.deepEqual(await broken(acting), []);
    const [approved, ...more] = await conditionsOf(cluster, 'badge');
    assert.deepEqual(more, []);
    assert.deepEqual(
      [approved?.type, approved?.reason, approved?.message],
      ['Approved', 'CountersignApprove', 'seen her badge <b>'],
    );
    const result = page.url();
    await page.goBack();
    await page.goForward();
    await page.reload();
    assert.equal(page.url(), result);
    assert.equal((await conditionsOf(cluster, 'badge')).length, 1);
  });

  test('a plan that is out of date when it is confirmed writes nothing and says so', async () => {
    const { cluster, createRequest } = stand();
    const { page, base } = acting;
    await createRequest('late', UNRULED);
    await page.goto(`${base}/act?verb=deny&subject=csr/late`);
    await cluster.kubectl(['certificate', 'approve', 'late']);
    await page.locator(CONFIRM).click();
    await page.locator('.verdict', { hasText: 'out of date' }).waitFor();
    assert.deepEqual(
      (await conditionsOf(cluster, 'late')).map(({ type }) => type),
      ['Approved'],
    );
  });

  test('a request is denied without JavaScript', async () => {
    const { cluster, start, createRequest } = stand();
    const browser = acting.context.browser() ?? assert.fail('no browser');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(await start('--allow-changes'));
    const base = page.url().replace(/\/overview$/, '');
    await createRequest('plain', UNRULED);
    await page.goto(`${base}/act?verb=deny&subject=csr/plain`);
    await page.locator(CONFIRM).click();
    await page.locator('.verdict', { hasText: 'Done.' }).waitFor();
    const [denied] = await conditionsOf(cluster, 'plain');
    assert.deepEqual([denied?.type, denied?.message], ['Denied', 'countersign deny']);
    await context.close();
  });

  test('a CA is prepared by the link of its signer, and a refused plan has no button', async () => {
    const { cluster, broken } = stand();
    const { page, base } = acting;
    await page.goto(`${base}/trust?signer=workload`);
    await page.locator('a', { hasText: 'Prepare a successor…' }).click();
    assert.match(await textOf(page), /would be changed \(dry run\)/);
    assert.deepEqual(await broken(acting), []);
    await page.locator(CONFIRM).click();
    await page.locator('.verdict', { hasText: 'Done.' }).waitFor();
    const prepared = await fingerprintOf(cluster, 'Prepared');
    await page.goto(`${base}/act?verb=prepare&signer=workload`);
    assert.match(await textOf(page), /already prepared/);
    assert.equal(await page.locator(CONFIRM).count(), 0);
    await page.goto(`${base}/act?verb=activate&signer=workload&ca=${prepared}`);
    assert.match(await textOf(page), /refused: |would be changed/);
    const active = await fingerprintOf(cluster, 'Active');
    await page.goto(`${base}/act?verb=revoke&signer=workload&ca=${active}`);
    assert.match(await textOf(page), /refused: .*is active/);
    assert.equal(await page.locator(CONFIRM).count(), 0);
    await page.goto(`${base}/act?verb=restart&signer=workload&ca=${active}`);
    assert.match(await textOf(page), /still signs/);
    assert.equal(await page.locator(CONFIRM).count(), 0);
  });

  test('a prepared CA is revoked, and a plan that another client overtakes is not', async () => {
    const { cluster } = stand();
    const { page, base } = acting;
    const prepared = await fingerprintOf(cluster, 'Prepared');
    const plan = `${base}/act?verb=revoke&signer=workload&ca=${prepared}`;
    const other = await acting.context.newPage();
    await page.goto(plan);
    await other.goto(plan);
    await page.locator(CONFIRM).click();
    await page.locator('.verdict', { hasText: 'Done.' }).waitFor();
    await other.locator(CONFIRM).click();
    await other.locator('.verdict', { hasText: 'out of date' }).waitFor();
    await other.close();
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'workload', '-o', 'json']);
    const { spec } = JSON.parse(stdout) as { spec: { authority: { managed: { distrusted: [] } } } };
    assert.deepEqual(spec.authority.managed.distrusted, [prepared]);
  });

  test('a CA is tainted, and pods that may hold its leaves are evicted', async () => {
    const { cluster } = stand();
    const { page, base } = acting;
    const ca = await fingerprintOf(cluster, 'Active');
    const before = await podsOf(cluster);
    await page.goto(`${base}/act?verb=taint&signer=workload&ca=${ca}`);
    await page.locator(CONFIRM).click();
    await page.locator('.verdict', { hasText: 'Done.' }).waitFor();
    await until('the CA has stopped signing', STOPPED_MS, async () => {
      await page.goto(`${base}/act?verb=restart&signer=workload&ca=${ca}`);
      return (await page.locator(CONFIRM).count()) > 0;
    });
    assert.match(await textOf(page), /default\/proxy-/);
    await page.locator(CONFIRM).click();
    await until('the evictions ended', WITHIN_MS, async () => {
      await page.reload();
      return (await page.locator('.verdict', { hasText: 'Done.' }).count()) > 0;
    });
    assert.match(await textOf(page), /2 pods evicted, 0 already gone, 0 left/);
    const after = await podsOf(cluster);
    assert.deepEqual(
      before.filter((uid) => after.includes(uid)),
      [],
    );
  });

  test('a form of another or no origin, or without a token, writes nothing', async () => {
    const { cluster } = stand();
    const { page, base, context } = acting;
    await page.goto(`${base}/act?verb=deny&subject=csr/kept`);
    const token = (await page.locator('input[name=token]').getAttribute('value')) ?? '';
    const html = `<form method="post" action="${base}/act"><input name="token" value="${token}">
      <button>win</button></form>`;
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(html);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const evil = await context.newPage();
    await evil.goto(`http://127.0.0.1:${address.port}/`);
    await evil.click('button');
    await evil.waitForLoadState();
    assert.match((await evil.textContent('h1')) ?? '', /Rejected/);
    await evil.close();
    server.close();
    const post = async (headers: Record<string, string>, form: Record<string, string>) =>
      (await page.request.post(`${base}/act`, { headers, form, maxRedirects: 0 })).status();
    assert.equal(await post({}, { token }), 403);
    assert.equal(await post({ origin: 'null' }, { token }), 403);
    assert.equal(await post(originOf(base), { token: 'guessed' }), 409);
    assert.equal(await post(originOf(base), {}), 409);
    assert.equal(await post(originOf(base), { token, message: 'x'.repeat(10_000) }), 409);
    assert.deepEqual(await conditionsOf(cluster, 'kept'), []);
  });

  test('a person without the permission sees which one, and can confirm nothing', async () => {
    const { cluster, start, open } = stand();
    const role = ['--verb=get,list,watch', '--resource=*.*'];
    await cluster.kubectl(['create', 'clusterrole', 'looker', ...role]);
    const binding = ['--clusterrole=looker', '--user=looker'];
    await cluster.kubectl(['create', 'clusterrolebinding', 'looker', ...binding]);
    const { page, base, context } = await open(await start('--allow-changes', '--as', 'looker'));
    const active = await fingerprintOf(cluster, 'Active');
    for (const [query, says] of [
      ['verb=approve&subject=csr/kept', /certificatesigningrequests\/approval/],
      [`verb=taint&signer=workload&ca=${active}`, /patch.*clustersigners/],
    ] as const) {
      await page.goto(`${base}/act?${query}`);
      assert.match(await textOf(page), says);
      assert.equal(await page.locator(CONFIRM).count(), 0);
    }
    await context.close();
  });
}

function originOf(base: string): { readonly origin: string } {
  return { origin: new URL(base).origin };
}

async function textOf(page: Page): Promise<string> {
  return (await page.textContent('main')) ?? '';
}

interface Condition {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

async function conditionsOf(cluster: Cluster, name: string): Promise<readonly Condition[]> {
  const { stdout } = await cluster.kubectl(['get', 'csr', name, '-o', 'json']);
  const { status } = JSON.parse(stdout) as { status: { conditions?: readonly Condition[] } };
  return status.conditions ?? [];
}

/** Returns the UIDs of the pods that mount a certificate, without those that are ending. */
async function podsOf(cluster: Cluster): Promise<readonly string[]> {
  const args = ['get', 'pods', '-n', 'default', '-l', 'app=proxy', '-o', 'json'];
  const { stdout } = await cluster.kubectl(args);
  const { items } = JSON.parse(stdout) as {
    items: readonly { metadata: { uid: string; deletionTimestamp?: string } }[];
  };
  return items.flatMap(({ metadata }) =>
    metadata.deletionTimestamp === undefined ? [metadata.uid] : [],
  );
}

/** Waits for a CA of the signer `workload` in a phase. */
function fingerprintOf(cluster: Cluster, phase: string): Promise<string> {
  return until(`a CA is ${phase}`, WITHIN_MS, async () => {
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'workload', '-o', 'json']);
    const { status } = JSON.parse(stdout) as {
      status: { authorities: readonly { phase: string; fingerprint: string }[] };
    };
    return status.authorities.find((each) => each.phase === phase)?.fingerprint;
  });
}

async function picture(page: Page, name: string): Promise<void> {
  const directory = process.env['PICTURES'];
  if (directory === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const path = join(directory, `console-${name}-${colorScheme}.jpg`);
    await page.screenshot({ path, type: 'jpeg', quality: 60 });
  }
}
