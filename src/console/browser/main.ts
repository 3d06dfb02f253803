// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps the rows of the page Requests up to date, by one stream of deltas. Fills the parts of the
 * page Overview as they are read, and shows the verdicts of the page Rules while a person types.
 */
import { render } from 'preact';
import { printable } from '#base/quote.ts';
import { isRecord } from '#base/record.ts';
import { withDelta, type RequestDelta, type RequestPage } from '../pages/requests.ts';
import type { OverviewModel } from '../pages/overview-model.ts';
import type { RulesResults } from '../pages/rules.ts';
import type { Content } from '../views/element.ts';
import { overviewParts } from '../views/overview.ts';
import { countText, rowsOf } from '../views/requests.ts';
import { resultParts } from '../views/rules.ts';

/** One message of the stream. */
interface StreamMessage {
  readonly now: number;
  /** Absent if only the failures changed. */
  readonly delta?: RequestDelta;
  /** Reasons for which rows are missing, or not up to date. */
  readonly failures: readonly string[];
}

/** One message of the stream of the page Overview. */
interface OverviewMessage {
  readonly now: number;
  readonly model: OverviewModel;
}

const overview = document.getElementById('overview');
if (overview?.dataset['stream'] !== undefined) fill(overview);
const body = document.getElementById('rows');
const status = document.getElementById('live');
if (body !== null && status !== null) follow(body, status);
const rules = document.getElementById('rules');
const verdicts = document.getElementById('verdicts');
if (rules instanceof HTMLFormElement && verdicts !== null) judge(rules, verdicts);

/** Renders the parts of the page Overview as they are read. */
function fill(root: HTMLElement): void {
  const { stream = '', prefix = '' } = root.dataset;
  const source = new EventSource(stream);
  const show = createRender(root);
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const message: unknown = JSON.parse(data);
    if (!isOverview(message)) return;
    const { now, model } = message;
    show(overviewParts({ prefix, now }, model));
  });
  for (const end of ['whole', 'ended']) {
    source.addEventListener(end, () => {
      source.close();
    });
  }
}

/** Returns a function that renders into an element. Its first call drops the server's parts. */
function createRender(root: HTMLElement): (parts: readonly Content[]) => void {
  let isRendered = false;
  return (parts) => {
    if (!isRendered) root.replaceChildren();
    isRendered = true;
    render([...parts], root);
  };
}

/** Judges the text of the page Rules while a person types: one text at a time, then the newest. */
function judge(form: HTMLFormElement, verdicts: HTMLElement): void {
  const show = createRender(verdicts);
  let [typed, sent] = [0, 0];
  let isBusy = false;
  const judgeNewest = async (): Promise<void> => {
    isBusy = true;
    while (sent < typed) {
      sent = typed;
      const results = await resultsOf(form).catch(() => NO_ANSWER);
      if (sent === typed) show(resultParts(results));
    }
    isBusy = false;
  };
  form.addEventListener('input', () => {
    typed += 1;
    if (!isBusy) void judgeNewest();
  });
}

const NO_ANSWER: RulesResults = {
  fault: 'the console does not answer: reload this page',
  samples: [],
  notes: [],
};

async function resultsOf(form: HTMLFormElement): Promise<RulesResults> {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string') body.set(name, value);
  }
  const headers = { accept: 'application/json' };
  const response = await fetch(form.action, { method: 'POST', body, headers });
  const results: unknown = await response.json();
  return isResults(results) ? results : NO_ANSWER;
}

/** Recognizes verdicts. The server of this page sends them, so their parts need no check. */
function isResults(value: unknown): value is RulesResults {
  return isRecord(value) && 'samples' in value && 'notes' in value;
}

const EMPTY_PAGE: RequestPage = { rows: [], total: 0, from: 0 };

function follow(rows: HTMLElement, live: HTMLElement): void {
  const { stream = '', prefix = '' } = rows.dataset;
  const query = Object.fromEntries(new URLSearchParams(location.search));
  let page: RequestPage | undefined;
  const source = new EventSource(stream);
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const message: unknown = JSON.parse(data);
    if (!isMessage(message)) return;
    const { now, delta, failures } = message;
    if (delta !== undefined) {
      if (page === undefined) rows.replaceChildren();
      page = withDelta(page ?? EMPTY_PAGE, delta);
      render([...rowsOf({ prefix, now }, page.rows, query)], rows);
    }
    // The status line names the present failures.
    document.getElementById('failures')?.remove();
    const state = failures.length === 0 ? 'live' : `not up to date: ${failures.join('; ')}`;
    live.textContent = printable(`${countText(page ?? EMPTY_PAGE)}, ${state}`);
  });
  source.addEventListener('ended', () => {
    source.close();
    live.textContent = 'The session has ended: run countersign console again.';
  });
  source.addEventListener('error', () => {
    live.textContent = 'Not up to date: reconnecting.';
  });
}

/** Recognizes a message of the page Overview. Its parts need no check, as those of verdicts. */
function isOverview(value: unknown): value is OverviewMessage {
  return isRecord(value) && 'now' in value && 'model' in value;
}

/** Recognizes a message of the page Requests. Its parts need no check, as those of verdicts. */
function isMessage(value: unknown): value is StreamMessage {
  return isRecord(value) && 'now' in value && 'failures' in value;
}
