/** The ids of the runs that pages show. */
export interface PageIds {
  readonly run: string
  readonly other: string
  readonly failed: string
}

export function fillServer(url: string, key: string, folder: string): Promise<PageIds>
