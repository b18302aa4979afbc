(* end_to_end: certification, applier, sessions, and what is stored.
   Written by paraply from the model of that name. *)

Require Import Foundation.

Section Model.

Variable Row : Type.
Variable some_Row : Row.
Variable eqb_Row : Row -> Row -> bool.
Hypothesis eqb_Row_true : forall x y, eqb_Row x y = true <-> x = y.

Variable Tab : Type.
Variable some_Tab : Tab.
Variable eqb_Tab : Tab -> Tab -> bool.
Hypothesis eqb_Tab_true : forall x y, eqb_Tab x y = true <-> x = y.

(* What no step changes. *)
Variable ws : Z -> Row -> bool.
Variable empty : Z -> bool.
Variable alters : Z -> Tab -> bool.
Variable vc : Z -> bool.
Variable local : Z -> bool.
Variable table : Row -> Tab.
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb ((empty p) || (vc p))) || (negb (ws p r))) = true)).
(* DDL has no write set *)
Hypothesis axiom_ddl_has_no_write_set : (forall p : Z, (forall t : Tab, ((negb (alters p t)) || ((empty p) && (negb (vc p)))) = true)).
(* a view change has no session *)
Hypothesis axiom_view_changes_are_nobodys : (forall p : Z, ((negb (vc p)) || (negb (local p))) = true).

Record state : Type := {
  n : Z;
  next_sn : Z;
  lc_global : Z;
  has : Row -> bool;
  item_sn : Row -> Z;
  sn : Z -> Z;
  lc : Z -> Z;
  epoch : Z -> Z;
  base : Z;
  started : Z -> bool;
  committed : Z -> bool;
  stored : Row -> Z;
  defined : Tab -> Z;
  row_lock : Row -> Z;
  meta_lock : Tab -> Z;
  last : Row -> Z;
  last_ddl : Tab -> Z;
  before : Z -> Row -> Z;
  ddl_before : Z -> Tab -> Z;
  found : Z -> Row -> Z;
  found_ddl : Z -> Tab -> Z;
  purged : Row -> bool;
  imported : Row -> bool
}.

Definition init_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (base st) 0) && ((Z.eqb (next_sn st) 2) && (Z.eqb (lc_global st) 1)))) = true.

Definition init_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (negb (committed st p))) = true).

Definition init_rows_as_they_were (st : state) : Prop :=
  (forall r : Row, ((negb (has st r)) && ((Z.eqb (stored st r) (-1)) && ((Z.eqb (last st r) (-1)) && (Z.eqb (row_lock st r) (-1))))) = true).

Definition init_tables_as_they_were (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (defined st t) (-1)) && ((Z.eqb (last_ddl st t) (-1)) && (Z.eqb (meta_lock st t) (-1)))) = true).

Definition init (st : state) : Prop :=
  init_nothing_delivered st /\ init_nothing_started st /\ init_rows_as_they_were st /\ init_tables_as_they_were st.

(* a remote transaction: LC is at least the window and its rows' items *)
Definition guard_certify (st : state) (new_lc : Z) : Prop :=
  (((negb (vc (n st))) = true) /\ (((negb (local (n st))) = true) /\ ((if (empty (n st)) then ((Z.eqb new_lc ((next_sn st) + (-1))) = true) else (((((lc_global st) <=? new_lc) = true) /\ (((new_lc <? (next_sn st)) = true) /\ ((forall r : Row, ((negb ((ws (n st) r) && (has st r))) || ((item_sn st r) <=? new_lc)) = true))))))))).
Definition act_certify (st : state) (new_lc : Z) : state :=
  {|
     n := ((n st) + 1);
     next_sn := ((next_sn st) + 1);
     lc_global := (if (empty (n st)) then (next_sn st) else (lc_global st));
     has := fun (x0 : Row) => ((has st x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then (next_sn st) else (item_sn st x0));
     sn := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (next_sn st) else (sn st x0));
     lc := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then new_lc else (lc st x0));
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (last st x0));
     last_ddl := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (last_ddl st x0));
     before := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 (n st)) then (last st x1) else (before st x0 x1));
     ddl_before := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (last_ddl st x1) else (ddl_before st x0 x1));
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st
  |}.

(* a local transaction: it has changed its rows, and holds their locks *)
Definition guard_certify_local (st : state) : Prop :=
  (((local (n st)) = true) /\ (((negb (vc (n st))) = true) /\ ((((Z.eqb (base st) 0) || (committed st (base st))) = true) /\ (((forall r : Row, ((negb ((ws (n st) r) || (alters (n st) (table r)))) || (Z.eqb (row_lock st r) (-1))) = true)) /\ (((forall t : Tab, ((negb (alters (n st) t)) || (Z.eqb (meta_lock st t) (-1))) = true)) /\ (((forall r : Row, ((negb (ws (n st) r)) || (Z.eqb (meta_lock st (table r)) (-1))) = true)) /\ (((forall r : Row, ((negb ((ws (n st) r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)) /\ (((forall r : Row, ((negb ((ws (n st) r) && (0 <=? (last_ddl st (table r))))) || (committed st (last_ddl st (table r)))) = true)) /\ (((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((ws p r) && (alters (n st) (table r)))))) || (committed st p)) = true))) /\ ((forall t : Tab, ((negb ((alters (n st) t) && (0 <=? (last_ddl st t)))) || (committed st (last_ddl st t))) = true))))))))))).
Definition act_certify_local (st : state) : state :=
  {|
     n := ((n st) + 1);
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := fun (x0 : Row) => ((has st x0) || (ws (n st) x0));
     item_sn := fun (x0 : Row) => (if (ws (n st) x0) then 0 else (item_sn st x0));
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 (n st)));
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (meta_lock st x0));
     last := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (last st x0));
     last_ddl := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (last_ddl st x0));
     before := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 (n st)) then (last st x1) else (before st x0 x1));
     ddl_before := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (last_ddl st x1) else (ddl_before st x0 x1));
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 (n st)) && (ws (n st) x1)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st
  |}.

(* purge stable items, and open any window *)
Definition guard_collect_garbage (st : state) (window : Z) (purged' : Row -> bool) : Prop :=
  ((((lc_global st) <=? window) = true) /\ (((window <? (next_sn st)) = true) /\ ((forall r : Row, ((negb ((purged' r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)))).
Definition act_collect_garbage (st : state) (window : Z) (purged' : Row -> bool) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := window;
     has := fun (x0 : Row) => ((has st x0) && (negb (purged' x0)));
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st
  |}.

(* an unused number: up to 8.3, collection uses one up *)
Definition guard_leave_out_number (st : state) : Prop :=
  true = true.
Definition act_leave_out_number (st : state) : state :=
  {|
     n := n st;
     next_sn := ((next_sn st) + 1);
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st
  |}.

(* a view change on an existing member: the counters continue *)
Definition guard_change_view (st : state) : Prop :=
  (vc (n st)) = true.
Definition act_change_view (st : state) : state :=
  {|
     n := ((n st) + 1);
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (base st) else (epoch st x0));
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st
  |}.

(* a view change on a joiner: counters start again, imported items have no SN *)
Definition guard_join (st : state) (imported' : Row -> bool) : Prop :=
  (((vc (n st)) = true) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (local p)))) || (committed st p)) = true))).
Definition act_join (st : state) (imported' : Row -> bool) : state :=
  {|
     n := ((n st) + 1);
     next_sn := 2;
     lc_global := 1;
     has := fun (x0 : Row) => (imported' x0);
     item_sn := fun (x0 : Row) => 0;
     sn := sn st;
     lc := lc st;
     epoch := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (n st) else (epoch st x0));
     base := (n st);
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := fun (x0 : Row) => (imported' x0)
  |}.

(* the coordinator gives it to a worker once everything up to its LC has committed *)
Definition guard_start (st : state) (q : Z) : Prop :=
  (((0 <=? q) = true) /\ (((q <? (n st)) = true) /\ (((negb (local q)) = true) /\ (((negb (started st q)) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? q))) || (started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? q) && (((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((sn st p) <=? (lc st q))))))) || ((negb (local p)) && ((vc p) || (vc q))))))) || (committed st p)) = true))))))).
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
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 q));
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st
  |}.

(* a worker changes a row, under its lock and a shared lock of the table *)
Definition guard_change_row (st : state) (q : Z) (r : Row) : Prop :=
  ((started st q) && ((negb (committed st q)) && ((negb (local q)) && ((ws q r) && ((Z.eqb (row_lock st r) (-1)) && (Z.eqb (meta_lock st (table r)) (-1))))))) = true.
Definition act_change_row (st : state) (q : Z) (r : Row) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := fun (x0 : Row) => (if (eqb_Row x0 r) then q else (row_lock st x0));
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 q) && (eqb_Row x1 r)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 q) && (eqb_Tab x1 (table r))) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st
  |}.

(* a worker changes a table's definition, under its exclusive lock *)
Definition guard_alter (st : state) (q : Z) (t : Tab) : Prop :=
  (((started st q) = true) /\ (((negb (committed st q)) = true) /\ (((negb (local q)) = true) /\ (((alters q t) = true) /\ (((Z.eqb (meta_lock st t) (-1)) = true) /\ ((forall r : Row, ((negb (eqb_Tab (table r) t)) || (Z.eqb (row_lock st r) (-1))) = true))))))).
Definition act_alter (st : state) (q : Z) (t : Tab) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := committed st;
     stored := stored st;
     defined := defined st;
     row_lock := row_lock st;
     meta_lock := fun (x0 : Tab) => (if (eqb_Tab x0 t) then q else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 q) && (eqb_Tab x1 t)) then (defined st x1) else (found_ddl st x0 x1));
     purged := purged st;
     imported := imported st
  |}.

(* its changes are stored and its locks released *)
Definition guard_engine_commit (st : state) (p : Z) : Prop :=
  (((0 <=? p) = true) /\ (((p <? (n st)) = true) /\ (((started st p) = true) /\ (((negb (committed st p)) = true) /\ (((local p) = false -> ((((forall r : Row, ((negb (ws p r)) || (Z.eqb (row_lock st r) p)) = true)) /\ ((forall t : Tab, ((negb (alters p t)) || (Z.eqb (meta_lock st t) p)) = true)))))))))).
Definition act_engine_commit (st : state) (p : Z) : state :=
  {|
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := started st;
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 p));
     stored := fun (x0 : Row) => (if (ws p x0) then p else (stored st x0));
     defined := fun (x0 : Tab) => (if (alters p x0) then p else (defined st x0));
     row_lock := fun (x0 : Row) => (if (Z.eqb (row_lock st x0) p) then (-1) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (Z.eqb (meta_lock st x0) p) then (-1) else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     purged := purged st;
     imported := imported st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (new_lc : Z), guard_certify st new_lc ->
    step st (act_certify st new_lc)
| step_certify_local : guard_certify_local st ->
    step st (act_certify_local st)
| step_collect_garbage : forall (window : Z) (purged' : Row -> bool), guard_collect_garbage st window purged' ->
    step st (act_collect_garbage st window purged')
| step_leave_out_number : guard_leave_out_number st ->
    step st (act_leave_out_number st)
| step_change_view : guard_change_view st ->
    step st (act_change_view st)
| step_join : forall (imported' : Row -> bool), guard_join st imported' ->
    step st (act_join st imported')
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_change_row : forall (q : Z) (r : Row), guard_change_row st q r ->
    step st (act_change_row st q r)
| step_alter : forall (q : Z) (t : Tab), guard_alter st q t ->
    step st (act_alter st q t)
| step_engine_commit : forall (p : Z), guard_engine_commit st p ->
    step st (act_engine_commit st p).

(* the window lies below the next number *)
Definition inv_counters (st : state) : Prop :=
  ((0 <=? (n st)) && ((0 <=? (base st)) && (((base st) <=? (n st)) && ((1 <=? (lc_global st)) && ((lc_global st) <? (next_sn st)))))) = true.

(* what was numbered in this epoch is below the next number *)
Definition inv_numbers_lie_below_the_counter (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((negb (local p)) && (Z.eqb (epoch st p) (base st))))))) || ((sn st p) <? (next_sn st))) = true).

(* an uncommitted writer is remembered by the row's item or by the window *)
Definition inv_item_is_covered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((negb (local p)) && ((Z.eqb (epoch st p) (base st)) && (ws p r))))))) || ((committed st p) || (((has st r) && ((sn st p) <=? (item_sn st r))) || ((sn st p) <=? (lc_global st))))) = true)).

(* one without write set is remembered by the window *)
Definition inv_fence_is_covered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((negb (vc p)) && ((negb (local p)) && ((Z.eqb (epoch st p) (base st)) && (empty p))))))) || ((sn st p) <=? (lc_global st))) = true).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_row_dependency_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((ws p r) && (ws q r))))))))))))) || (((sn st p) <=? (lc st q)) || (committed st p))) = true))).

(* LC reaches across a transaction without write set *)
Definition inv_fence_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((Z.eqb (epoch st p) (epoch st q)) && ((empty p) || (empty q))))))))))))) || ((sn st p) <=? (lc st q))) = true)).

(* a view change started after everything in the relay log before it *)
Definition inv_view_change_waited (st : state) : Prop :=
  (forall p : Z, (forall v : Z, ((negb ((0 <=? v) && ((v <? (n st)) && ((vc v) && ((started st v) && ((0 <=? p) && ((p <? v) && (negb (local p))))))))) || (committed st p)) = true)).

(* between two epochs lies the view change that reset the counters *)
Definition inv_epoch_begins_with_a_view_change (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && (negb (Z.eqb (epoch st p) (epoch st q))))))))) || ((p <? (epoch st q)) && (((epoch st q) <=? q) && (vc (epoch st q))))) = true)).

(* an earlier epoch lies before the view change that began this one *)
Definition inv_old_epoch_lies_before_the_base (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (n st)))) || (((epoch st p) <=? (base st)) && ((Z.eqb (epoch st p) (base st)) || (p <? (base st))))) = true).

(* an epoch begins at a view change, or at the beginning *)
Definition inv_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (base st) 0) || ((vc (base st)) && ((base st) <? (n st)))) = true.

(* no conflicting parallel apply, across view changes *)
Definition inv_row_writers_start_in_turn (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((started st q) && ((ws p r) && (ws q r))))))))))))) || (committed st p)) = true))).

(* nor beside one without write set *)
Definition inv_fence_is_alone (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((negb (vc p)) && ((negb (local p)) && ((negb (vc q)) && ((negb (local q)) && ((started st q) && ((empty p) || (empty q))))))))))))) || (committed st p)) = true)).

(* delivered, then started, then committed *)
Definition inv_phases (st : state) : Prop :=
  (forall p : Z, (((negb (committed st p)) || (started st p)) && ((negb (started st p)) || ((0 <=? p) && (p <? (n st))))) = true).

(* an item is missing because it was stable, or not imported *)
Definition inv_missing_item_was_executed (st : state) : Prop :=
  (forall r : Row, ((negb ((negb (has st r)) && (0 <=? (last st r)))) || ((committed st (last st r)) || ((last st r) <? (base st)))) = true).

(* a row is locked by a running writer of it *)
Definition inv_row_lock_is_a_writers (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (row_lock st r) (-1)) || ((0 <=? (row_lock st r)) && (((row_lock st r) <? (n st)) && ((started st (row_lock st r)) && ((negb (committed st (row_lock st r))) && (ws (row_lock st r) r)))))) = true).

(* a table is locked by a running DDL of it *)
Definition inv_meta_lock_is_a_ddls (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (meta_lock st t) (-1)) || ((0 <=? (meta_lock st t)) && (((meta_lock st t) <? (n st)) && ((started st (meta_lock st t)) && ((negb (committed st (meta_lock st t))) && (alters (meta_lock st t) t)))))) = true).

(* a session's rows are locked until its engine commit *)
Definition inv_session_keeps_its_rows (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((local p) && ((negb (committed st p)) && (ws p r)))))) || (Z.eqb (row_lock st r) p)) = true)).

(* and so are the tables it alters *)
Definition inv_session_keeps_its_tables (st : state) : Prop :=
  (forall p : Z, (forall t : Tab, ((negb ((0 <=? p) && ((p <? (n st)) && ((local p) && ((negb (committed st p)) && (alters p t)))))) || (Z.eqb (meta_lock st t) p)) = true)).

(* a transaction that changed a row came after every earlier writer's commit *)
Definition inv_writers_follow_each_other (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((ws p r) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))))))) || (committed st p)) = true))).

(* a transaction that changed a row came after every earlier DDL of its table *)
Definition inv_users_follow_ddl (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((alters p (table r)) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))))))) || (committed st p)) = true))).

(* a DDL came after every earlier change of a row of its table *)
Definition inv_ddl_follows_users (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((ws p r) && ((alters q (table r)) && ((Z.eqb (meta_lock st (table r)) q) || (committed st q)))))))))) || (committed st p)) = true))).

(* and after every earlier DDL of it *)
Definition inv_ddl_follows_ddl (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall t : Tab, ((negb ((0 <=? p) && ((p <? (n st)) && ((0 <=? q) && ((q <? (n st)) && ((p <? q) && ((alters p t) && ((alters q t) && ((Z.eqb (meta_lock st t) q) || (committed st q)))))))))) || (committed st p)) = true))).

(* what is stored was committed *)
Definition inv_stored_is_committed (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (stored st r) (-1)) || ((0 <=? (stored st r)) && ((committed st (stored st r)) && (ws (stored st r) r)))) = true).

(* and nothing later was *)
Definition inv_stored_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((committed st p) && (ws p r))) || (p <=? (stored st r))) = true)).

(* a table is as a committed DDL left it *)
Definition inv_defined_is_committed (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (defined st t) (-1)) || ((0 <=? (defined st t)) && ((committed st (defined st t)) && (alters (defined st t) t)))) = true).

(* and none later has committed *)
Definition inv_defined_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall t : Tab, ((negb ((committed st p) && (alters p t))) || (p <=? (defined st t))) = true)).

(* the last certified writer of a row writes it *)
Definition inv_last_is_a_writer (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (last st r) (-1)) || ((0 <=? (last st r)) && (((last st r) <? (n st)) && (ws (last st r) r)))) = true).

(* and none is later *)
Definition inv_last_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && (ws p r)))) || (p <=? (last st r))) = true)).

(* the last certified DDL of a table alters it *)
Definition inv_last_ddl_is_one (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (last_ddl st t) (-1)) || ((0 <=? (last_ddl st t)) && (((last_ddl st t) <? (n st)) && (alters (last_ddl st t) t)))) = true).

(* and none is later *)
Definition inv_last_ddl_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall t : Tab, ((negb ((0 <=? p) && ((p <? (n st)) && (alters p t)))) || (p <=? (last_ddl st t))) = true)).

(* the certified writer before is an earlier one *)
Definition inv_before_is_a_writer (st : state) : Prop :=
  (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && (ws q r)))) || ((Z.eqb (before st q r) (-1)) || ((0 <=? (before st q r)) && (((before st q r) <? q) && (ws (before st q r) r))))) = true)).

(* and none lies between *)
Definition inv_before_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && ((ws q r) && ((0 <=? p) && ((p <? q) && (ws p r))))))) || (p <=? (before st q r))) = true))).

(* the DDL certified before is an earlier one *)
Definition inv_ddl_before_is_one (st : state) : Prop :=
  (forall q : Z, (forall t : Tab, ((negb ((0 <=? q) && ((q <? (n st)) && (negb (vc q))))) || ((Z.eqb (ddl_before st q t) (-1)) || ((0 <=? (ddl_before st q t)) && (((ddl_before st q t) <? q) && (alters (ddl_before st q t) t))))) = true)).

(* and none lies between *)
Definition inv_ddl_before_is_the_latest (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall t : Tab, ((negb ((0 <=? q) && ((q <? (n st)) && ((negb (vc q)) && ((0 <=? p) && ((p <? q) && (alters p t))))))) || (p <=? (ddl_before st q t))) = true))).

(* it is inductive *)
Definition inv_changes_land_as_certified (st : state) : Prop :=
  (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))) || (Z.eqb (found st q r) (before st q r))) = true)).

(* it is inductive *)
Definition inv_definitions_are_as_certified (st : state) : Prop :=
  (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))) || (Z.eqb (found_ddl st q (table r)) (ddl_before st q (table r)))) = true)).

(* it is inductive *)
Definition inv_alterations_are_as_certified (st : state) : Prop :=
  (forall q : Z, (forall t : Tab, ((negb ((0 <=? q) && ((q <? (n st)) && ((alters q t) && ((Z.eqb (meta_lock st t) q) || (committed st q)))))) || (Z.eqb (found_ddl st q t) (ddl_before st q t))) = true)).

(* a change of a row finds the version of the certified writer before it *)
Definition safe_changes_land_as_certified (st : state) : Prop :=
  (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))) || (Z.eqb (found st q r) (before st q r))) = true)).

(* a change of a row finds the table as the certified DDL before it left it *)
Definition safe_definitions_are_as_certified (st : state) : Prop :=
  (forall q : Z, (forall r : Row, ((negb ((0 <=? q) && ((q <? (n st)) && ((ws q r) && ((Z.eqb (row_lock st r) q) || (committed st q)))))) || (Z.eqb (found_ddl st q (table r)) (ddl_before st q (table r)))) = true)).

(* an ALTER finds the table as the certified DDL before it left it *)
Definition safe_alterations_are_as_certified (st : state) : Prop :=
  (forall q : Z, (forall t : Tab, ((negb ((0 <=? q) && ((q <? (n st)) && ((alters q t) && ((Z.eqb (meta_lock st t) q) || (committed st q)))))) || (Z.eqb (found_ddl st q t) (ddl_before st q t))) = true)).

(* when all has committed, each row and table is as the last certified left it *)
Definition safe_members_converge (st : state) : Prop :=
  (forall r : Row, (((forall any : Z, ((negb ((0 <=? any) && (any <? (n st)))) || (committed st any)) = true)) -> ((Z.eqb (stored st r) (last st r)) && (Z.eqb (defined st (table r)) (last_ddl st (table r)))) = true)).

