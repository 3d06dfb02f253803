// SPDX-License-Identifier: Apache-2.0
/**
 * `countersign console` in a real browser, with a real API server. PICTURES=DIRECTORY also writes
 * pictures of the pages.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import chromium from '@sparticuz/chromium';
import { chromium as launcher, type Browser } from 'playwright-core';
import { BUNDLE } from '../support/cluster/countersign.ts';
import { startFixture, type Fixture } from '../support/cluster/fixture.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { encodePem } from '#pki/der/pem.ts';
import { encodeRequest } from '#pki/x509/encode-request.ts';
import { testFirstPage, testRecovery, type Opened, type Stand } from './recovery.ts';
import { testActing } from './acting.ts';
import { testRestarts } from './restarts.ts';
import { testRules } from './rules.ts';
import { createTrustScene } from './trust-scene.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PAGES = ['overview', 'time', 'trust', 'requests', 'issued', 'rules', 'restarts'] as const;
/** A name that the API server takes, with markup and a mark that reverses text. */
const HOSTILE = '<img src=x onerror=alert(1)>\u202egnp.exe';

/** So short that a successor of a CA is created while the tests run. */
const PROPAGATION = '5s';

let fixture: Fixture;
let browser: Browser;
const consoles: ChildProcess[] = [];

before(async () => {
  fixture = await startFixture({ args: ['--propagation', PROPAGATION] });
  await createTrustScene(fixture.cluster, HOSTILE);
  browser = await launcher.launch({
    executablePath: await chromium.executablePath(),
    // The package's own arguments turn web security off, which is judged here.
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
});
after(async () => {
  for (const each of consoles) each.kill();
  await browser.close();
  await fixture.stop();
});

/** Starts a console, and returns the address that it prints. */
async function startConsole(...args: readonly string[]): Promise<string> {
  const own = args.includes('--kubeconfig') ? [] : ['--kubeconfig', fixture.cluster.kubeconfig];
  const all = ['console', '--no-open', '--propagation', PROPAGATION, ...own, ...args];
  const child = spawn(process.execPath, [BUNDLE, ...all], { stdio: ['ignore', 'pipe', 'inherit'] });
  consoles.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return line;
}

async function open(address: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const context = await browser.newContext({
    locale: 'en-US',
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const reports: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) reports.push(message.text());
  });
  page.on('pageerror', (error) => reports.push(error.message));
  page.on('dialog', (dialog) => {
    reports.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(address);
  return { context, page, reports, base: page.url().replace(/\/overview$/, '') };
}

/** Returns the rules of axe that the page breaks, and drops the reports that axe itself causes. */
async function broken({ page, reports }: Opened): Promise<readonly string[]> {
  assert.deepEqual(reports, []);
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly string[]>(`axe.run().then(({violations}) =>
    violations.map(({id, nodes}) => id + ' ' + nodes[0].html.slice(0, 200)))`);
  reports.length = 0;
  return found;
}

async function createRequest(
  name: string,
  signerName = 'example.com/people',
  commonName = HOSTILE,
): Promise<void> {
  const { key } = await generatePrivateKey('ECDSAP256');
  const sans = { dnsNames: [], ipAddresses: [], uris: [], emails: [] };
  const subject = { commonName, organizations: [], organizationalUnits: [] };
  const pem = encodePem('CERTIFICATE REQUEST', encodeRequest({ subject, sans, key }));
  const request = Buffer.from(pem).toString('base64');
  const spec = { request, signerName, usages: ['client auth'] };
  const kind = 'CertificateSigningRequest';
  const object = { apiVersion: 'certificates.k8s.io/v1', kind, metadata: { name }, spec };
  const input = JSON.stringify(object);
  await fixture.cluster.kubectl(['create', '-f', '-'], { input });
}

let first: Opened;

test('the address opens the first page, and the secret is gone from it', async () => {
  const address = await startConsole();
  first = await open(address);
  assert.match(first.page.url(), /\/overview$/);
  assert.equal(await first.page.locator('h1').textContent(), 'Overview');
  const second = await open(address);
  assert.match((await second.page.textContent('h1')) ?? '', /opens no session/);
  await second.context.close();
});

test('a request appears by itself, and its hostile name stays text', async () => {
  const { page, base, reports } = first;
  await page.goto(`${base}/requests`);
  await page.locator('#live', { hasText: 'live' }).waitFor();
  await createRequest(HOSTILE);
  await page.locator('#rows', { hasText: 'u{202e}gnp' }).waitFor();
  assert.equal(await page.locator('main img').count(), 0);
  await page.locator('#rows a').first().click();
  await page.waitForSelector('.explanation');
  assert.match((await page.textContent('.explanation')) ?? '', /example\.com\/people|rule|approv/);
  assert.deepEqual(reports, []);
});

test("a signer's page names foreign anchors, and texts of strangers stay text", async () => {
  const { page, base, reports } = first;
  await page.goto(`${base}/trust`);
  await page.locator('main a', { hasText: 'workload' }).first().click();
  await page.waitForURL(/signer=workload/);
  const text = (await page.textContent('main')) ?? '';
  assert.match(text, /foreign: no CA of this signer/);
  assert.match(text, /u\{202e\}gnp/);
  assert.match(text, /deployment\/proxy/);
  assert.equal(await page.locator('main img').count(), 0);
  await page.locator('svg a.node.ca').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/ca=sha256/);
  assert.match(
    (await page.textContent('main')) ?? '',
    /countersign authority revoke would refuse this now:/,
  );
  assert.deepEqual(reports, []);
});

/** Pages, and pages of one signer by their names. */
const PICTURED: readonly (readonly [name: string, path: string])[] = [
  ...PAGES.map((name) => [name, name] as const),
  ['signer', 'trust?signer=workload'],
  ['pods', 'trust?signer=workload&show=certificate'],
  ['people-rules', 'rules?signer=people'],
];

for (const [name, path] of PICTURED)
  for (const scheme of ['light', 'dark'] as const)
    test(`${name} in ${scheme} colors: axe finds nothing, and the policy is kept`, async () => {
      const { page, base, reports } = first;
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: 1100, height: 760 });
      await page.goto(`${base}/${path}`);
      // The page Overview may still be reading, and its picture is of all parts.
      if (name === 'overview') await page.locator('.verdict').waitFor();
      assert.deepEqual(await broken(first), []);
      const directory = process.env['PICTURES'];
      if (directory !== undefined) {
        const file = join(directory, `console-${name}-${scheme}.jpg`);
        await page.screenshot({ path: file, type: 'jpeg', quality: 60 });
      }
      await page.setViewportSize({ width: 360, height: 700 });
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(wide <= 360, `${wide} px wide on a phone`);
      assert.deepEqual(await broken(first), []);
      assert.deepEqual(reports, []);
    });

test('the pages are shown without JavaScript', async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(await startConsole());
  const base = page.url().replace(/\/overview$/, '');
  for (const name of PAGES) {
    await page.goto(`${base}/${name}`);
    assert.equal((await page.locator('h1').textContent())?.toLowerCase(), name);
  }
  await context.close();
});

test('a page of another origin gets nothing, by link, script or frame', async () => {
  const { base, context } = first;
  const html = `<a href="${base}/overview">x</a><iframe src="${base}/overview"></iframe>`;
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(html);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${address.port}/`);
  const read = `fetch('${base}/overview', {credentials: 'include'}).then((r) => r.text(), () => 'no')`;
  assert.equal(await page.evaluate(read), 'no');
  const framed = page.frames().find((each) => each !== page.mainFrame());
  const inside = await framed?.textContent('body').catch(() => '');
  assert.doesNotMatch(inside ?? '', /Signers/);
  await page.click('a');
  await page.waitForLoadState();
  assert.match((await page.textContent('body')) ?? '', /Sec-Fetch-Site/);
  await page.close();
  server.close();
});

test('a name that was rebound to the address gets nothing', async () => {
  const { page, base } = await open(await startConsole());
  const { port, pathname } = new URL(base);
  const answer = await page.request.get(`http://127.0.0.1:${port}${pathname}/overview`, {
    headers: { host: `evil.example:${port}` },
  });
  assert.equal(answer.status(), 421);
});

test('a user without rights sees on each page what is missing', async () => {
  const opened = await open(await startConsole('--as', 'nobody'));
  const { page, base, reports } = opened;
  for (const name of PAGES) {
    await page.goto(`${base}/${name}`);
    if (name === 'overview') await page.locator('.verdict').waitFor();
    const text = (await page.textContent('main')) ?? '';
    assert.match(text, /may not|forbidden|cannot list|Permission/i, name);
    assert.deepEqual(await broken(opened), [], name);
  }
  assert.deepEqual(reports, []);
});

const stand = (): Stand => {
  return { cluster: fixture.cluster, start: startConsole, open, createRequest, broken };
};
testFirstPage(stand);
testRecovery(stand);
testActing(stand);
testRules(stand);
testRestarts(stand);
