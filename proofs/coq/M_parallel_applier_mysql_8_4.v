(* parallel_applier[mysql_8_4]: delivery, LC/SN assignment, garbage collection, view changes, LOGICAL_CLOCK scheduling.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable empty : Z -> bool.
Variable vc : Z -> bool.
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb (empty p)) || (negb (ws p r))) = true)).

Record state : Type := {
  n : Z;
  next_sn : Z;
  lc_global : Z;
  has : Row -> bool;
  item_sn : Row -> Z;
  sn : Z -> Z;
  lc : Z -> Z;
  epoch : Z -> Z;
  window : Z -> Z;
  parent : Z -> Z;
  shared : Z -> Row;
  item_position : Row -> Z;
  base : Z;
  started : Z -> bool;
  committed : Z -> bool;
  purged : Row -> bool;
  imported : Row -> bool;
  local_ws : Row -> bool
}.

Definition init_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (n st) 0) && (Z.eqb (base st) 0)) = true.

Definition init_counters (st : state) : Prop :=
  ((Z.eqb (next_sn st) 2) && (Z.eqb (lc_global st) 1)) = true.

Definition init_certification_info_is_empty (st : state) : Prop :=
  (forall r : Row, (negb (has st r)) = true).

Definition init_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (negb (committed st p))) = true).

Definition init (st : state) : Prop :=
  init_nothing_delivered st /\ init_counters st /\ init_certification_info_is_empty st /\ init_nothing_started st.

(* AL1 for a remote transaction *)
Definition guard_certify (st : state) (new_lc : Z) (witness : Row) : Prop :=
  (((negb (vc (n st))) = true) /\ ((if (empty (n st)) then ((Z.eqb new_lc ((next_sn st) + (-1))) = true) else (((((lc_global st) <=? new_lc) = true) /\ (((forall r : Row, ((negb ((ws (n st) r) && (has st r))) || ((item_sn st r) <=? new_lc)) = true)) /\ (((Z.eqb new_lc (lc_global st)) || ((ws (n st) witness) && ((has st witness) && (Z.eqb (item_sn st witness) new_lc)))) = true))))))).
Definition act_certify (st : state) (new_lc : Z) (witness : Row) : state :=
  {|
     n := ((n st) + 1);
     next_sn := ((next_sn st) + 1);
     lc_global := (if (empty (n st)) then (next_sn st) else (lc_global st));
     has := fun (x0 : Row) => ((has st x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then (next_sn st) else (item_sn st x0));
     sn := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (next_sn st) else (sn st x0));
     lc := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then new_lc else (lc st x0));
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     window := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (lc_global st) else (window st x0));
     parent := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (item_position st witness) else (parent st x0));
     shared := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then witness else (shared st x0));
     item_position := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (item_position st x0));
     base := base st;
     started := started st;
     committed := committed st;
     purged := purged st;
     imported := imported st;
     local_ws := local_ws st
  |}.

(* a local transaction's items carry no sequence number *)
Definition guard_certify_local (st : state) (local_ws' : Row -> bool) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((ws p r) && (local_ws' r))))) || (committed st p)) = true)).
Definition act_certify_local (st : state) (local_ws' : Row -> bool) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := fun (x0 : Row) => ((has st x0) || (local_ws' x0));
     item_sn := fun (x0 : Row) => (if (local_ws' x0) then 0 else (item_sn st x0));
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     window := window st;
     parent := parent st;
     shared := shared st;
     item_position := item_position st;
     base := base st;
     started := started st;
     committed := committed st;
     purged := purged st;
     imported := imported st;
     local_ws := fun (x0 : Row) => (local_ws' x0)
  |}.

(* purge any items at any time and open a new window *)
Definition guard_collect_garbage (st : state) (purged' : Row -> bool) : Prop :=
  true = true.
Definition act_collect_garbage (st : state) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := ((next_sn st) + (-1));
     has := fun (x0 : Row) => ((has st x0) && (negb (purged' x0)));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     window := window st;
     parent := parent st;
     shared := shared st;
     item_position := item_position st;
     base := base st;
     started := started st;
     committed := committed st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st;
     local_ws := local_ws st
  |}.

(* the first remote transaction after a start is logged with (0, 0); its items have the number that it would have had *)
Definition guard_certify_first (st : state) (number : Z) (opened : Z) (imported' : Row -> bool) : Prop :=
  ((vc (n st)) && ((2 <=? number) && ((1 <=? opened) && (opened <=? number)))) = true.
Definition act_certify_first (st : state) (number : Z) (opened : Z) (imported' : Row -> bool) : state :=
  {|
     n := ((n st) + 1);
     next_sn := (number + 1);
     lc_global := (if (empty (n st)) then number else opened);
     has := fun (x0 : Row) => ((imported' x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then number else 0);
     sn := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then 0 else (sn st x0));
     lc := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then 0 else (lc st x0));
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (n st) else (epoch st x0));
     window := window st;
     parent := parent st;
     shared := shared st;
     item_position := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (item_position st x0));
     base := (n st);
     started := started st;
     committed := committed st;
     purged := purged st;
     imported := fun (x0 : Row) => (imported' x0);
     local_ws := local_ws st
  |}.

(* the coordinator dispatches in relay-log order, once every SN <= LC has committed *)
Definition guard_start (st : state) (q : Z) : Prop :=
  (((0 <=? q) = true) /\ (((q <? (n st)) = true) /\ (((negb (started st q)) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? q))) || (started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? q) && ((vc q) || (((vc p) && (negb (vc q))) || ((negb (vc q)) && ((negb (vc p)) && ((Z.eqb (epoch st p) (epoch st q)) && ((sn st p) <=? (lc st q)))))))))) || (committed st p)) = true)))))).
Definition act_start (st : state) (q : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     window := window st;
     parent := parent st;
     shared := shared st;
     item_position := item_position st;
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 q));
     committed := committed st;
     purged := purged st;
     imported := imported st;
     local_ws := local_ws st
  |}.

(* a worker's engine commit, in any order *)
Definition guard_finish (st : state) (p : Z) : Prop :=
  ((started st p) && (negb (committed st p))) = true.
Definition act_finish (st : state) (p : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     window := window st;
     parent := parent st;
     shared := shared st;
     item_position := item_position st;
     base := base st;
     started := started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 p));
     purged := purged st;
     imported := imported st;
     local_ws := local_ws st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (new_lc : Z) (witness : Row), guard_certify st new_lc witness ->
    step st (act_certify st new_lc witness)
| step_certify_local : forall (local_ws' : Row -> bool), guard_certify_local st local_ws' ->
    step st (act_certify_local st local_ws')
| step_collect_garbage : forall (purged' : Row -> bool), guard_collect_garbage st purged' ->
    step st (act_collect_garbage st purged')
| step_certify_first : forall (number : Z) (opened : Z) (imported' : Row -> bool), guard_certify_first st number opened imported' ->
    step st (act_certify_first st number opened imported')
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_finish : forall (p : Z), guard_finish st p ->
    step st (act_finish st p).

(* the window lies below the next number *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (n st)) && ((0 <=? (base st)) && (((base st) <=? (n st)) && ((1 <=? (lc_global st)) && ((lc_global st) <? (next_sn st)))))) = true.

(* what was numbered in this epoch is below the next number *)
Definition inv_numbers_lie_below_the_counter (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && (Z.eqb (epoch st p) (base st)))))) || ((sn st p) <? (next_sn st))) = true).

(* LC is taken below the next number *)
Definition inv_last_committed_is_below (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (negb (vc p))))) || ((1 <=? (lc st p)) && ((lc st p) <? (sn st p)))) = true).

(* an item's number was assigned before, or is none *)
Definition inv_items_lie_below_the_counter (st : state) : Prop :=
  (forall r : Row, ((negb (has st r)) || ((item_sn st r) <? (next_sn st))) = true).

(* the statement is inductive *)
Definition inv_last_committed_is_minimal (st : state) : Prop :=
  (forall q : Z, ((negb ((0 <=? q) && ((q <? (n st)) && ((negb (vc q)) && (negb (empty q)))))) || ((Z.eqb (lc st q) (window st q)) || ((0 <=? (parent st q)) && (((parent st q) <? q) && ((ws (parent st q) (shared st q)) && ((ws q (shared st q)) && ((Z.eqb (sn st (parent st q)) (lc st q)) || (vc (parent st q))))))))) = true).

(* an item's number is that of a writer of the row *)
Definition inv_item_names_its_writer (st : state) : Prop :=
  (forall r : Row, ((negb ((has st r) && (1 <=? (item_sn st r)))) || ((0 <=? (item_position st r)) && (((item_position st r) <? (n st)) && ((ws (item_position st r) r) && ((Z.eqb (sn st (item_position st r)) (item_sn st r)) || (vc (item_position st r))))))) = true).

(* an uncommitted writer is remembered by the row's item or by the window *)
Definition inv_item_is_covered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((Z.eqb (epoch st p) (base st)) && (ws p r)))))) || ((committed st p) || (((has st r) && ((sn st p) <=? (item_sn st r))) || ((sn st p) <=? (lc_global st))))) = true)).

(* one without write set is remembered by the window *)
Definition inv_fence_is_covered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((Z.eqb (epoch st p) (base st)) && (empty p)))))) || ((sn st p) <=? (lc_global st))) = true).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_row_dependency_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (vc q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((ws p r) && (ws q r))))))))))) || (((sn st p) <=? (lc st q)) || (committed st p))) = true))).

(* LC reaches across a transaction without write set *)
Definition inv_fence_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (vc q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((empty p) || (empty q))))))))))) || ((sn st p) <=? (lc st q))) = true)).

(* each started transaction had everything up to its LC committed *)
Definition inv_start_respects_last_committed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (vc q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((started st q) && ((sn st p) <=? (lc st q)))))))))))) || (committed st p)) = true)).

(* a view change started after everything before it had committed *)
Definition inv_view_change_waited (st : state) : Prop :=
  (forall p : Z, (forall v : Z, ((negb ((0 <=? v) && ((v <? (n st)) && ((vc v) && ((started st v) && ((0 <=? p) && (p <? v))))))) || (committed st p)) = true)).

(* whatever follows a view change started after it *)
Definition inv_view_change_is_waited_for (st : state) : Prop :=
  (forall v : Z, (forall q : Z, ((negb ((0 <=? v) && ((v <? q) && ((0 <=? q) && ((q <? (n st)) && ((vc v) && ((negb (vc q)) && (started st q)))))))) || (committed st v)) = true)).

(* nothing commits that did not start *)
Definition inv_finished_was_started (st : state) : Prop :=
  (forall p : Z, ((negb (committed st p)) || (started st p)) = true).

(* nothing starts that was not delivered *)
Definition inv_started_was_delivered (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) || ((0 <=? p) && (p <? (n st)))) = true).

(* between two epochs lies the view change that reset the counters *)
Definition inv_epoch_begins_with_a_view_change (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && (negb (Z.eqb (epoch st p) (epoch st q))))))))) || ((p <? (epoch st q)) && (((epoch st q) <=? q) && (vc (epoch st q))))) = true)).

(* an earlier epoch lies before the view change that began this one *)
Definition inv_old_epoch_lies_before_the_base (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (((epoch st p) <=? (base st)) && ((Z.eqb (epoch st p) (base st)) || (p <? (base st))))) = true).

(* an epoch begins at a view change, or at the beginning *)
Definition inv_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (base st) 0) || ((vc (base st)) && ((base st) <? (n st)))) = true.

(* two transactions that write one row never run at the same time *)
Definition safe_conflicting_rows_are_ordered (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((started st q) && ((ws p r) && ((ws q r) && ((negb (vc p)) && (negb (vc q)))))))))))) || (committed st p)) = true))).

(* a transaction without write set runs beside nothing *)
Definition safe_without_write_set_is_alone (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((started st q) && (((empty p) || (empty q)) && ((negb (vc p)) && (negb (vc q))))))))))) || (committed st p)) = true)).

(* a view change runs beside nothing *)
Definition safe_view_change_is_a_barrier (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((started st q) && ((vc p) || (vc q))))))))) || (committed st p)) = true)).

(* LC < SN, so that no transaction waits for itself *)
Definition safe_last_committed_is_below (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (negb (vc p))))) || ((1 <=? (lc st p)) && ((lc st p) <? (sn st p)))) = true).

(* LC is the window, or the number of an earlier writer of a common row *)
Definition safe_last_committed_is_minimal (st : state) : Prop :=
  (forall q : Z, ((negb ((0 <=? q) && ((q <? (n st)) && ((negb (vc q)) && (negb (empty q)))))) || ((Z.eqb (lc st q) (window st q)) || ((0 <=? (parent st q)) && (((parent st q) <? q) && ((ws (parent st q) (shared st q)) && ((ws q (shared st q)) && ((Z.eqb (sn st (parent st q)) (lc st q)) || (vc (parent st q))))))))) = true).

