// SPDX-License-Identifier: Apache-2.0
/** The page Rules in a real browser, with requests of a real API server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Opened, Stand } from './recovery.ts';

const DENY = `- name: nobody
        when: request.username != ''
        message: '<b>nobody</b>\u202e'
      - name: no-robots`;

/** Declares the tests. @param stand - called in the tests */
export function testRules(stand: () => Stand): void {
  let opened: Opened;

  test('verdicts follow the text as a person types, and nothing is written', async () => {
    const { cluster, start, open, createRequest, broken } = stand();
    // A name that no rule of its own denies.
    await createRequest('typed', 'example.com/people', 'plain');
    opened = await open(await start());
    const { page, base, reports } = opened;
    await page.goto(`${base}/rules?signer=people`);
    await page.locator('#verdicts', { hasText: 'csr/typed' }).waitFor();
    assert.match((await page.textContent('#verdicts .verdict')) ?? '', /^0 of \d+ samples/);
    const yaml = await page.locator('#yaml').inputValue();
    await page.fill('#yaml', yaml.replace('- name: no-robots', DENY));
    await page.locator('#verdicts', { hasText: 'nobody' }).waitFor();
    const text = (await page.textContent('#verdicts')) ?? '';
    assert.match(text, /deny/);
    assert.match(text, /u\{202e\}/);
    assert.equal(await page.locator('#verdicts b').count(), 0);
    assert.doesNotMatch((await page.textContent('#verdicts .verdict')) ?? '', /^0 of/);
    assert.deepEqual(await broken(opened), []);
    await page.fill('#yaml', `${yaml}\n{`);
    await page.locator('#verdicts [role=alert]').waitFor();
    await page.fill('#yaml', yaml);
    await page.locator('#verdicts .verdict', { hasText: /^0 of/ }).waitFor();
    assert.deepEqual(reports, []);
    const { stdout } = await cluster.kubectl(['get', 'clustersigner', 'people', '-o', 'json']);
    assert.doesNotMatch(stdout, /nobody/);
  });

  test('the week is replayed, or the page says why it cannot be', async () => {
    const { page } = opened;
    await page.locator('button[name=replay]').click();
    await page.locator('h2', { hasText: 'The last week' }).waitFor();
    assert.match((await page.textContent('#verdicts section')) ?? '', /ledger|recorded requests/);
  });

  test('rules are judged without JavaScript', async () => {
    const { start } = stand();
    const browser = opened.context.browser() ?? assert.fail('no browser');
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(await start());
    await page.goto(page.url().replace(/overview$/, 'rules?signer=people'));
    const yaml = await page.locator('#yaml').inputValue();
    await page.fill('#yaml', yaml.replace('- name: no-robots', DENY));
    await page.locator('button', { hasText: 'Judge the samples' }).click();
    assert.match((await page.textContent('#verdicts')) ?? '', /deny/);
    assert.match(await page.locator('#yaml').inputValue(), /nobody/);
    await context.close();
  });

  test('a page of another origin has no rules judged', async () => {
    const { page, base } = opened;
    const form = { signer: 'people', yaml: 'x' };
    for (const headers of [{}, { origin: 'null' }, { origin: 'https://evil.example' }]) {
      const answer = await page.request.post(`${base}/rules`, { headers, form });
      assert.equal(answer.status(), 403);
    }
  });
}
