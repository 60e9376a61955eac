//! Threads that pull tasks, and the only place that restores the order of the input.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::feed::{Feed, Task};
use super::worker::{Done, Worker};
use super::{Batch, BatchProgress, Event, Flow, Opened, Work};
use crate::scratch::lock;
use crate::{Buffer, Source};

/// How many folded results a worker keeps for its next blocks.
const MAX_REUSED: usize = 4;

impl Batch {
    /// Works on all `sources` and passes the events to `fold`, in the order of the input.
    pub fn run<W: Work>(&self, sources: Vec<Source>, work: &W, mut fold: impl FnMut(Event<'_, W::Out>) -> Flow + Send) {
        let mut feed = Feed::new(self, sources);
        let mut buffer = Buffer::default();
        let Some(first) = feed.next(&mut buffer) else { return };
        let folding = Folding {
            fold: &mut fold,
            progress: self.progress.as_deref(),
            closed: None,
            is_read: false,
            stopped: false,
        };
        // A single small input needs one thread, so the number of cores is not looked up.
        let jobs = if feed.is_done() { 1 } else { self.threads() };
        // Records that wait are small tasks, and one that waits long must not hold up all others.
        let ahead = if feed.one_by_one { 16 * jobs } else { 2 * jobs + 2 };
        let shared = Shared {
            feed: Mutex::new(feed),
            // The first task has its ticket already: the others cannot use them all up before its worker starts.
            tickets: Tickets { free: Mutex::new(ahead - 1), freed: Condvar::new() },
            halt: AtomicBool::new(false),
            used: std::iter::repeat_with(Mutex::default).take(jobs).collect(),
            order: Mutex::new(Order { early: BTreeMap::new(), next: 0, folding: Some(folding) }),
        };
        let mut first = Some((first, buffer));
        let pool = (jobs > 1).then(|| rayon::ThreadPoolBuilder::new().num_threads(jobs).build());
        let Some(Ok(pool)) = pool else {
            // A single worker runs on this thread, which takes less time than to start another.
            return self.work(&shared, 0, first, work);
        };
        pool.in_place_scope(|scope| {
            for worker in 0..jobs {
                let shared = &shared;
                let first = first.take();
                scope.spawn(move |_| self.work(shared, worker, first, work));
            }
        });
    }

    fn threads(&self) -> usize {
        let jobs = match self.jobs {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        };
        jobs.max(self.at_once.unwrap_or(1))
    }

    /// A worker: pulls tasks until none is left.
    fn work<W: Work>(&self, shared: &Shared<'_, '_, W::Out>, number: usize, first: Option<(Task, Buffer)>, work: &W) {
        let (mut given, buffer) = first.unzip();
        let mut worker =
            Worker { batch: self, work, buffer: buffer.unwrap_or_default(), ends: Vec::new(), known: OnceCell::new() };
        let _released = ReleaseOnDrop { tickets: &shared.tickets, halt: &shared.halt };
        loop {
            if given.is_none() {
                shared.tickets.take();
            }
            let ended = shared.halt.load(Ordering::Relaxed) || self.stop.load(Ordering::Relaxed);
            let next = given.take().or_else(|| if ended { None } else { lock(&shared.feed).next(&mut worker.buffer) });
            let Some(task) = next else { return };
            let out = lock(&shared.used[number]).pop().unwrap_or_default();
            shared.fold(number, worker.run(task, out), work);
        }
    }
}

/// The state that the workers of a batch share.
struct Shared<'f, 'g, Out> {
    feed: Mutex<Feed<'f>>,
    tickets: Tickets,
    /// Set when the fold needs nothing more.
    halt: AtomicBool,
    /// Results of each worker that were folded and can be reused. Memory that another worker allocated is slower to grow.
    used: Vec<Mutex<Vec<Out>>>,
    order: Mutex<Order<'g, Out>>,
}

/// Restores the order of the input.
struct Order<'g, Out> {
    /// Results that wait for earlier ones, each with the number of its worker.
    early: BTreeMap<usize, (usize, Done<Out>)>,
    /// The number of the next result to fold.
    next: usize,
    /// The fold, unless a worker is using it.
    folding: Option<Folding<'g, Out>>,
}

impl<Out: Default> Shared<'_, '_, Out> {
    /// Folds a result and those that waited for it, unless it must wait itself or another worker is folding, which then
    /// folds it. A thread of its own for this would have to be woken for every block, and would take the block's text from
    /// another core.
    fn fold<W: Work<Out = Out>>(&self, worker: usize, done: Done<Out>, work: &W) {
        let mut order = lock(&self.order);
        order.early.insert(done.number, (worker, done));
        let Some(mut folding) = order.folding.take() else { return };
        loop {
            let next = order.next;
            let Some((worker, mut done)) = order.early.remove(&next) else { break };
            order.next += 1;
            drop(order);
            folding.done(&mut done);
            self.halt.fetch_or(folding.stopped, Ordering::Relaxed);
            work.reset(&mut done.out);
            let mut used = lock(&self.used[worker]);
            if used.len() < MAX_REUSED {
                used.push(done.out);
            }
            drop(used);
            self.tickets.give();
            order = lock(&self.order);
        }
        order.folding = Some(folding);
    }
}

/// Bounds how far workers run ahead of the fold, so that the blocks after a slow one cannot fill the memory.
struct Tickets {
    free: Mutex<usize>,
    freed: Condvar,
}

impl Tickets {
    fn take(&self) {
        let free = self.freed.wait_while(lock(&self.free), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
    }

    fn give(&self) {
        *lock(&self.free) += 1;
        self.freed.notify_one();
    }
}

/// Returns the ticket of a worker that ends. If it ends by a panic, the others stop too: they would wait forever for its
/// result.
struct ReleaseOnDrop<'s> {
    tickets: &'s Tickets,
    halt: &'s AtomicBool,
}

impl Drop for ReleaseOnDrop<'_> {
    fn drop(&mut self) {
        self.halt.fetch_or(std::thread::panicking(), Ordering::Relaxed);
        self.tickets.give();
    }
}

/// The fold, and which events of the current file it received.
struct Folding<'f, Out> {
    fold: &'f mut (dyn FnMut(Event<'_, Out>) -> Flow + Send),
    progress: Option<&'f dyn BatchProgress>,
    /// The number of the file that was closed last.
    closed: Option<usize>,
    /// Whether anything of the current file could be read so far.
    is_read: bool,
    stopped: bool,
}

impl<Out> Folding<'_, Out> {
    fn done(&mut self, done: &mut Done<Out>) {
        if self.stopped {
            return;
        }
        let Some(opened) = done.opened.clone() else {
            for failure in &done.failures {
                self.emit(Event::Failed(failure));
            }
            return;
        };
        // Blocks of a file that ended early may still arrive.
        if self.closed == Some(opened.number) {
            return;
        }
        if done.unrelated {
            self.close(&opened);
            self.emit(Event::PassedOver(&opened));
            return;
        }
        let mut wanted = true;
        if done.first {
            wanted &= self.emit(Event::Opened(&opened));
        }
        self.is_read = done.is_read || !done.first && self.is_read;
        // Where nothing can be read, the file has failed.
        if let Some(failure) = done.failures.last_mut().filter(|_| done.last && !self.is_read) {
            failure.is_loss = false;
            failure.record.take_if(|record| record.is_empty());
        }
        let whole = done.first && done.last && !done.rest_unread && opened.table.is_none();
        wanted = wanted && self.emit(Event::Done { opened: &opened, out: &mut done.out, whole });
        for failure in &done.failures {
            wanted = wanted && self.emit(Event::Failed(failure));
        }
        if done.last || done.rest_unread || !wanted {
            self.close(&opened);
            let complete = done.last && !done.rest_unread && wanted;
            self.emit(Event::Closed { opened: &opened, complete });
        }
    }

    /// Ends a file: its other blocks are not folded.
    fn close(&mut self, opened: &Opened) {
        opened.skip_rest();
        self.closed = Some(opened.number);
        if let Some(progress) = self.progress {
            progress.end(opened.number);
        }
    }

    /// Whether the file is still wanted.
    fn emit(&mut self, event: Event<'_, Out>) -> bool {
        let flow = (self.fold)(event);
        self.stopped |= flow == Flow::Stop;
        flow == Flow::Continue
    }
}
