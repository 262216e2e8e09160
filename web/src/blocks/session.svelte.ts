/**
 * A session on the screen. The client keeps the turns exact (patches in order, resumed without a gap). This store reports which
 * turns changed, once per animation frame, so that one word redraws one block and not the transcript.
 */
import { flushSync } from 'svelte';
import { SessionView, type LiveEvent, type Problem, type Question, type Session, type Turn } from '@parley/client';
import { problemOf, server } from '$/state/server.svelte';

export const pageSize = 100;

/** One turn; its version increases with every change. */
export class TurnBox {
  #version = $state(0);
  #turn: Turn;
  constructor(turn: Turn) { this.#turn = turn; }
  get id(): string { return this.#turn.turn_id; }
  get turn(): Turn {
    this.#version;
    return this.#turn;
  }
  /** Reads without tracking. */
  get plain(): Turn { return this.#turn; }
  put(turn: Turn): void {
    this.#turn = turn;
    this.#version++;
  }
}

export class SessionStore {
  readonly id: string;
  session: Session | null = $state.raw(null);
  /** Root turns in order; the turns of sub-agents are in `lanes`, by the call that started them. */
  boxes: TurnBox[] = $state.raw([]);
  lanes: Map<string, TurnBox[]> = $state.raw(new Map());
  questions: Question[] = $state.raw([]);
  hasMore = $state(false);
  isLoading = $state(true);
  problem: Problem | null = $state.raw(null);
  /** Increases with every change to the transcript. */
  changes = $state(0);
  /** The place of the newest plan: older ones are drawn short. */
  plan: { turn: string; index: number } | null = $state.raw(null);
  readonly view = new SessionView();
  readonly #boxOf = new Map<string, TurnBox>();
  #dirty = new Set<string>();
  #isShape = false;
  #scheduled = false;
  #cost = 0;
  #stop: (() => void) | null = null;
  #isClosed = false;
  onevent: ((event: LiveEvent) => void) | null = null;

  constructor(id: string) { this.id = id; }

  async open(): Promise<void> {
    this.isLoading = true;
    this.problem = null;
    try {
      const [session, page] = await Promise.all([
        server.parley.session(this.id),
        server.parley.messages(this.id, { limit: String(pageSize) }),
      ]);
      this.view.session = session;
      this.view.load(page.turns, page.position);
      this.session = session;
      this.hasMore = page.hasMore;
      this.#shape();
      for (const q of await server.parley.questions(this.id)) this.view.questions.set(q.tool_call_id, q);
      this.questions = [...this.view.questions.values()];
      if (this.#isClosed) return;
      const lost = (data: Record<string, unknown>): void => { if (data.session_id === this.id) this.#later(data, 'session:lost'); };
      const stops = [server.on('session:lost', lost)];
      await server.live.subscribe(this.id, { from: this.view });
      stops.push(server.live.listen(this.id, (event) => this.#take(event)));
      if (this.#isClosed) stops.forEach((stop) => stop());
      this.#stop = () => stops.forEach((stop) => stop());
      this.#isShape = true;
      this.#schedule();
    } catch (error) {
      this.problem = problemOf(error);
    } finally {
      this.isLoading = false;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#stop?.();
    void server.live.unsubscribe(this.id).catch(() => {});
  }

  /** Loads an older page; the caller keeps the scroll position. */
  async older(): Promise<void> {
    const first = Math.min(...[...this.view.turns.values()].map((turn) => turn.sequence));
    const page = await server.parley.messages(this.id, { limit: String(pageSize), before: String(first) });
    for (const turn of page.turns) if (!this.view.turns.has(turn.turn_id)) this.view.turns.set(turn.turn_id, turn);
    this.hasMore = page.hasMore;
    this.#shape();
  }

  /** Loads older pages until a turn is present: for a jump from the outline or a link. */
  async reach(turnId: string): Promise<boolean> {
    for (let i = 0; i < 60 && !this.view.turns.has(turnId) && this.hasMore; i++) await this.older();
    return this.view.turns.has(turnId);
  }

  #take(event: LiveEvent): void {
    this.onevent?.(event);
    this.#later(event.data, event.event);
  }

  #later(data: Record<string, unknown>, event: string): void {
    if (event === 'turn:patch' || event === 'memory:inject:done') this.#dirty.add(String(data.turn_id));
    else {
      this.#isShape = true;
      const turn = data.turn as Turn | undefined;
      if (turn) this.#dirty.add(turn.turn_id);
      if (event === 'session:snapshot') {
        for (const id of this.view.turns.keys()) this.#dirty.add(id);
        if (data.mode === 'snapshot') this.hasMore = data.has_more === true;
      }
    }
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    let isDone = false;
    const run = (): void => {
      if (isDone) return;
      isDone = true;
      this.#scheduled = false;
      const began = performance.now();
      this.#flush();
      flushSync();
      this.#cost = performance.now() - began;
    };
    /* expensive drawing happens rarely: it takes at most a quarter of the time */
    if (this.#cost > 8) setTimeout(run, this.#cost * 3);
    else {
      requestAnimationFrame(run);
      setTimeout(run, 200); /* a hidden tab gets no animation frames */
    }
  }

  #flush(): void {
    if (this.#isShape) {
      this.#isShape = false;
      this.session = this.view.session;
      this.questions = [...this.view.questions.values()];
      this.#shape();
    }
    for (const id of this.#dirty) {
      const turn = this.view.turns.get(id);
      if (!turn) continue;
      this.#boxOf.get(id)?.put(turn);
      this.#findPlan(turn);
    }
    this.#dirty.clear();
    this.changes++;
  }

  #findPlan(turn: Turn): void {
    for (let i = turn.blocks.length - 1; i >= 0; i--) {
      if (turn.blocks[i]!.type !== 'plan_status') continue;
      const held = this.plan ? this.view.turns.get(this.plan.turn)?.sequence ?? -1 : -1;
      if (turn.sequence >= held && (this.plan?.turn !== turn.turn_id || this.plan.index !== i)) this.plan = { turn: turn.turn_id, index: i };
      return;
    }
  }

  #shape(): void {
    const ordered = this.view.ordered;
    const roots: TurnBox[] = [];
    const lanes = new Map<string, TurnBox[]>();
    for (const turn of ordered) {
      let box = this.#boxOf.get(turn.turn_id);
      if (!box) {
        box = new TurnBox(turn);
        this.#boxOf.set(turn.turn_id, box);
      } else if (box.plain !== turn) box.put(turn);
      const parent = turn.parent_fork_tool_call_id;
      if (turn.loop_id === 'root' || !parent) roots.push(box);
      else if (lanes.has(parent)) lanes.get(parent)!.push(box);
      else lanes.set(parent, [box]);
      this.#findPlan(turn);
    }
    for (const id of this.#boxOf.keys()) if (!this.view.turns.has(id)) this.#boxOf.delete(id);
    this.boxes = roots;
    this.lanes = lanes;
    this.changes++;
  }
}

/** A transcript that does not change: a shared one, or one made by hand. */
export class StillStore {
  readonly id = '';
  session: Session | null;
  boxes: TurnBox[];
  lanes: Map<string, TurnBox[]>;
  questions: Question[] = [];
  plan: { turn: string; index: number } | null = null;
  constructor(session: Session | null, turns: Turn[]) {
    this.session = session;
    const all = [...turns].sort((a, b) => a.sequence - b.sequence);
    this.boxes = all.filter((turn) => turn.loop_id === 'root' || !turn.parent_fork_tool_call_id).map((turn) => new TurnBox(turn));
    this.lanes = new Map();
    for (const turn of all) {
      const parent = turn.parent_fork_tool_call_id;
      if (turn.loop_id !== 'root' && parent) this.lanes.set(parent, [...(this.lanes.get(parent) ?? []), new TurnBox(turn)]);
      turn.blocks.forEach((block, index) => { if (block.type === 'plan_status') this.plan = { turn: turn.turn_id, index }; });
    }
  }
}

/** The interface that a transcript needs; both stores have it. */
export type Store = Pick<SessionStore, 'id' | 'session' | 'boxes' | 'lanes' | 'questions' | 'plan'>;
