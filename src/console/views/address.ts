// SPDX-License-Identifier: Apache-2.0
/** The addresses of pages: everything that a page shows is in its address. */

/** The pages of the console. */
export type PageName =
  'overview' | 'time' | 'trust' | 'requests' | 'issued' | 'rules' | 'restarts' | 'certificate';

/** Paths without a place in the navigation. `act`, `result` and `stop`: only if pages can act. */
export type ConsolePath = PageName | 'stream' | 'act' | 'result' | 'stop';

/** The parameters of an address. */
export type PageQuery = Readonly<Record<string, string | number | undefined>>;

/** The parameters of every view. */
export interface View {
  /** First part of every path. */
  readonly prefix: string;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: number;
  /** True if pages offer actions. */
  readonly canAct?: boolean;
}

/** Returns the address of a page. Empty parameters are left out. */
export function addressOf({ prefix }: View, page: ConsolePath, query: PageQuery = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `/${prefix}/${page}${text === '' ? '' : `?${text}`}`;
}
