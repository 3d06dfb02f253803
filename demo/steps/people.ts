// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../../test/cluster/cluster.ts';
import { countersign, type CommandResult } from '../../test/support/cluster/countersign.ts';
import { conditionOf, waitForCondition } from '../../test/support/cluster/requests/csr.ts';
import type { Cast, PeopleCa } from '../cast/cast.ts';
import type { Tell } from '../story.ts';

const SIGNER = 'example.com/people';

/** The people's part of the story: each method is one step. */
export class People {
  readonly #cluster: Cluster;
  readonly #ca: PeopleCa;
  readonly directory: string;

  constructor({ cluster, peopleCa }: Cast) {
    this.#cluster = cluster;
    this.#ca = peopleCa;
    this.directory = mkdtempSync(join(cluster.directory, 'people-'));
  }

  /** People in group dev may ask; what they get is decided by the ClusterSigner. */
  async prepare(): Promise<void> {
    await this.#cluster.kubectl([
      'create',
      'clusterrolebinding',
      'dev-csr',
      '--clusterrole=countersign-csr-requester',
      '--group=dev',
    ]);
  }

  /** jane, whom the API server knows by impersonation only, becomes a user with a certificate. */
  async jane(tell: Tell): Promise<void> {
    const result = await this.#request(['--name', 'jane', '--group', 'dev', '--csr-name', 'jane']);
    assert.equal(result.code, 0, result.stderr);
    tell(result.stdout.replaceAll(`${this.directory}/`, ''));
    const approved = await conditionOf(this.#cluster, 'jane', 'Approved');
    tell(`Approved: ${approved?.message ?? ''}`);
    if (!this.#ca.isTrusted) {
      tell(`the API server does not trust this CA, so OpenSSL judges: ${this.#verified()}`);
      return;
    }
    const kubeconfig = join(this.directory, 'jane.kubeconfig');
    const who = await this.#cluster.kubectl(['auth', 'whoami', '-o', 'json'], { kubeconfig });
    const { status } = JSON.parse(who.stdout) as {
      status: { userInfo: { username: string; groups: string[] } };
    };
    assert.equal(status.userInfo.username, 'jane');
    assert.ok(status.userInfo.groups.includes('dev'));
    tell(
      `kubectl auth whoami: ${status.userInfo.username}, groups ${status.userInfo.groups.join(', ')}`,
    );
  }

  /** What OpenSSL says of jane's certificate: its subject, once its chain holds for a client. */
  #verified(): string {
    const certificate = join(this.directory, 'jane.crt');
    const run = (args: readonly string[]): string =>
      execFileSync('openssl', args, { encoding: 'utf8' }).trim();
    const chain = ['-no-CApath', '-CAfile', this.#ca.certFile, '-untrusted', certificate];
    run(['verify', ...chain, '-purpose', 'sslclient', certificate]);
    return run(['x509', '-noout', '-subject', '-in', certificate]);
  }

  /** The same request with one thing more is not approved. */
  async more(tell: Tell): Promise<void> {
    const admins = 'kubeadm:cluster-admins';
    await this.#refusedHere(['--group', admins], tell);
    await this.#create('jane-admin', ['dev', admins]);
    const { message } = await waitForCondition(this.#cluster, 'jane-admin', 'Denied');
    tell(`the same by openssl and kubectl, O=${admins} more: Denied, ${message}`);
    const cases = [
      { name: 'jane-san', extra: ['--dns', 'jane.example.com'], what: 'one SAN' },
      {
        name: 'jane-usage',
        extra: ['--usage', 'digital signature', '--usage', 'client auth', '--usage', 'server auth'],
        what: 'one usage',
      },
    ];
    for (const { name, extra, what } of cases) {
      const asked = ['--name', 'jane', '--group', 'dev', '--csr-name', name, '--timeout', '3s'];
      // A key is never overwritten: each request has a directory of its own.
      const own = ['--out', join(this.directory, name)];
      const result = await this.#request([...asked, ...extra, ...own]);
      assert.notEqual(result.code, 0);
      assert.equal(await conditionOf(this.#cluster, name, 'Approved'), undefined);
      tell(`${what} more: ${result.stderr.trim().replace(/^countersign: /, '')}`);
    }
  }

  /**
   * An approval by hand lifts no hard refusal; the approver is away, so that a hand can be first.
   */
  async masters(cast: Cast, tell: Tell): Promise<void> {
    await cast.withoutApprover(async () => {
      await this.#refusedHere(['--group', 'system:masters'], tell);
      await this.#create('masters', ['system:masters']);
      await this.#cluster.kubectl(['certificate', 'approve', 'masters']);
      const failed = await waitForCondition(this.#cluster, 'masters', 'Failed');
      tell(`O=system:masters, approved by hand: Failed, ${failed.reason}: ${failed.message}`);
    });
  }

  /** What no rule covers waits for a person. */
  async byHand(tell: Tell): Promise<void> {
    const asked = ['--name', 'build-agent', '--csr-name', 'build-agent'];
    const waiting = await this.#request([...asked, '--timeout', '3s']);
    assert.match(waiting.stderr, /no certificate yet/);
    tell('no rule covers CN=build-agent: it waits');
    tell((await this.#cluster.kubectl(['certificate', 'approve', 'build-agent'])).stdout);
    const issued = await this.#cluster.kubectl([
      'wait',
      '--for=jsonpath={.status.certificate}',
      '--timeout=20s',
      'csr/build-agent',
    ]);
    assert.equal(issued.code, 0);
    tell((await this.#cluster.kubectl(['get', 'csr'])).stdout);
  }

  /** `countersign request` refuses what every signer would, before it writes a key. */
  async #refusedHere(extra: readonly string[], tell: Tell): Promise<void> {
    const own = ['--out', join(this.directory, 'refused')];
    const asked = ['--name', 'jane', '--group', 'dev', '--csr-name', 'refused'];
    const { code, stderr } = await this.#request([...asked, ...extra, ...own]);
    assert.notEqual(code, 0);
    assert.match(stderr, /nothing is requested/);
    tell(stderr.trim().replace(/^countersign: /, ''));
  }

  /** A request that nobody checked: OpenSSL writes it, and jane creates it. */
  async #create(name: string, organizations: readonly string[]): Promise<void> {
    const subject = [...organizations.map((each) => `/O=${each}`), '/CN=jane'].join('');
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout'];
    const file = join(this.directory, `${name}.key`);
    const pem = execFileSync('openssl', ['req', '-new', '-subj', subject, ...key, file], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const object = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name },
      spec: {
        signerName: SIGNER,
        request: pem.toString('base64'),
        usages: ['digital signature', 'client auth'],
      },
    };
    await this.#cluster.kubectl(['create', '-f', '-', '--as', 'jane', '--as-group', 'dev'], {
      input: JSON.stringify(object),
    });
  }

  #request(args: readonly string[]): Promise<CommandResult> {
    return countersign([
      'request',
      '--signer',
      SIGNER,
      '--kubeconfig',
      this.#cluster.kubeconfig,
      '--as',
      'jane',
      '--as-group',
      'dev',
      ...(args.includes('--out') ? [] : ['--out', this.directory]),
      ...args,
    ]);
  }
}
