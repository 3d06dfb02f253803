// SPDX-License-Identifier: Apache-2.0
/** A Vault above the CAs of a simulation: sealed for hours, slow, wrong, and answers get lost. */
import assert from 'node:assert/strict';
import type { UpstreamSpec } from '#api/signer/cluster-signer.ts';
import type { HttpCall, HttpAnswer } from '#base/egress/exchange.ts';
import type { NoAnswer } from '#base/egress/no-answer.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { createVaults, type Vaults } from '#trust/authority/upstream/vault/index.ts';
import type { Dice } from '../../../oracle/dice.ts';
import { createCompanyRoot } from '../../../support/ca/company-root.ts';
import { authorityLooks, type Next } from './at-work.ts';
import type { Process } from './process.ts';
import { DAY, HOUR, MINUTE } from './scenario.ts';
import { silentLog } from './silent-log.ts';
import { START, type Simulation } from './simulation.ts';

const SERVER = 'https://vault.example.com';
const ROOT = await createCompanyRoot(START + 29 * DAY);
const OTHERS = await createCompanyRoot(START + 29 * DAY);

/** Each CA is its own anchor, so that the laws know it by its fingerprint. */
export const UPSTREAM: UpstreamSpec = {
  vault: {
    server: SERVER,
    mount: 'pki',
    auth: { mount: 'kubernetes', role: 'countersign' },
    rootFingerprint: fingerprint(ROOT.certificate.raw),
    anchor: 'Authority',
    trustEverythingBelow: false,
  },
};

const LONGEST_SEALED = 6 * HOUR;

/** Of a hundred calls so many go wrong in each way. */
export interface Troubles {
  readonly sealed: number;
  readonly lost: number;
  readonly foreign: number;
}

export class SimulatedVault {
  /** The CAs that it signed, lost answers and refused chains included. */
  signed = 0;
  lost = 0;
  foreign = 0;
  /** Processes that ended between an answer and its write. */
  killed = 0;
  #isUnwritten = false;
  readonly #troubles: Troubles;
  readonly #dice: Dice;
  #sim: Simulation | undefined;
  #sealedUntil = 0;
  #vaults: Vaults | undefined;

  constructor(troubles: Troubles, dice: Dice) {
    this.#troubles = troubles;
    this.#dice = dice;
  }

  attach(sim: Simulation): void {
    this.#sim = sim;
    const { authority } = sim;
    const restart = authority.restart.bind(authority);
    authority.restart = (downMs) => {
      if (this.#isUnwritten) this.killed += 1;
      this.#isUnwritten = false;
      this.#vaults = undefined;
      restart(downMs);
    };
    sim.world.onChange(({ kind, isManaged }) => {
      if (kind === 'secret' && isManaged) this.#isUnwritten = false;
    });
  }

  readonly looks = (process: Process): Promise<Next> => {
    const vaults = (this.#vaults ??= this.#open(process));
    return authorityLooks(process, (signer, secret) => vaults.answerFor(signer, secret));
  };

  #open({ component }: Process): Vaults {
    const sim = this.#simulation();
    return createVaults({
      ...component,
      log: silentLog,
      access: {
        tokenFiles: new Map([[SERVER, '/token']]),
        readToken: () => Promise.resolve('token'),
        open: () => ({ send: (call) => this.#answer(call), close: () => Promise.resolve() }),
      },
      wake: () => {
        // A slow answer: its process hears of it after some seconds.
        sim.later(sim.world.now + this.#dice.roll(20_000), () => {
          sim.authority.lookAt = Math.min(sim.authority.lookAt, sim.world.now);
        });
      },
      count: () => undefined,
    });
  }

  #simulation(): Simulation {
    assert.ok(this.#sim !== undefined);
    return this.#sim;
  }

  #answer({ url, body = '' }: HttpCall): Promise<HttpAnswer | NoAnswer> {
    return Promise.resolve(this.#answered(url, body));
  }

  #answered(url: string, body: string): HttpAnswer | NoAnswer {
    const { now } = this.#simulation().world;
    const certificate = ROOT.material.certificate;
    if (url.endsWith('/json')) {
      if (now >= this.#sealedUntil && this.#happens('sealed')) {
        this.#sealedUntil = now + this.#dice.roll(LONGEST_SEALED);
      }
      if (now < this.#sealedUntil) return json(503, { errors: ['Vault is sealed'] });
      return json(200, { data: { certificate } });
    }
    if (!url.endsWith('/sign-intermediate')) return json(200, { auth: { client_token: 'client' } });
    const { csr, ttl } = JSON.parse(body) as { readonly csr: string; readonly ttl: string };
    this.signed += 1;
    const isForeign = this.#happens('foreign');
    const by = isForeign ? OTHERS : ROOT;
    if (isForeign) this.foreign += 1;
    if (this.#happens('lost')) {
      this.lost += 1;
      const detail = 'no answer within 20 s';
      return { kind: 'transport', cause: 'timeout', detail, mayHaveArrived: true };
    }
    this.#isUnwritten = !isForeign;
    const days = Number(ttl.replace('s', '')) / 86_400;
    const chain = [by.material.certificate];
    return json(200, { data: { certificate: by.sign(csr, days, now - MINUTE), ca_chain: chain } });
  }

  #happens(trouble: keyof Troubles): boolean {
    return this.#dice.roll(100) < this.#troubles[trouble];
  }
}

function json(status: number, body: unknown): HttpAnswer {
  return { status, headers: {}, body: Buffer.from(JSON.stringify(body)) };
}
