(* applier_in_member: what the applier does, and the member with it.
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
Variable applier_ws : Z -> Row -> bool.
Variable applier_empty : Z -> bool.
Variable applier_vc : Z -> bool.
Variable ws : Z -> Row -> bool.
Variable empty : Z -> bool.
Variable alters : Z -> Tab -> bool.
Variable vc : Z -> bool.
Variable local : Z -> bool.
Variable table : Row -> Tab.
(* a transaction without write set names no row *)
Hypothesis axiom_applier_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb (applier_empty p)) || (negb (applier_ws p r))) = true)).
(* a transaction without write set names no row *)
Hypothesis axiom_empty_writes_nothing : (forall p : Z, (forall r : Row, ((negb ((empty p) || (vc p))) || (negb (ws p r))) = true)).
(* DDL has no write set *)
Hypothesis axiom_ddl_has_no_write_set : (forall p : Z, (forall t : Tab, ((negb (alters p t)) || ((empty p) && (negb (vc p)))) = true)).
(* a view change has no session *)
Hypothesis axiom_view_changes_are_nobodys : (forall p : Z, ((negb (vc p)) || (negb (local p))) = true).

Record state : Type := {
  applier_n : Z;
  applier_next_sn : Z;
  applier_lc_global : Z;
  applier_has : Row -> bool;
  applier_item_sn : Row -> Z;
  applier_sn : Z -> Z;
  applier_lc : Z -> Z;
  applier_epoch : Z -> Z;
  applier_window : Z -> Z;
  applier_parent : Z -> Z;
  applier_shared : Z -> Row;
  applier_item_position : Row -> Z;
  applier_base : Z;
  applier_started : Z -> bool;
  applier_committed : Z -> bool;
  purged : Row -> bool;
  imported : Row -> bool;
  applier_local_ws : Row -> bool;
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
  matched : Prop;
  place : Z -> Z;
  rank : Z -> Z
}.

Definition init_applier_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (applier_n st) 0) && (Z.eqb (applier_base st) 0)) = true.

Definition init_applier_counters (st : state) : Prop :=
  ((Z.eqb (applier_next_sn st) 2) && (Z.eqb (applier_lc_global st) 1)) = true.

Definition init_applier_certification_info_is_empty (st : state) : Prop :=
  (forall r : Row, (negb (applier_has st r)) = true).

Definition init_applier_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (applier_started st p)) && (negb (applier_committed st p))) = true).

Definition init_nothing_delivered (st : state) : Prop :=
  ((Z.eqb (n st) 0) && ((Z.eqb (base st) 0) && ((Z.eqb (next_sn st) 2) && (Z.eqb (lc_global st) 1)))) = true.

Definition init_nothing_started (st : state) : Prop :=
  (forall p : Z, ((negb (started st p)) && (negb (committed st p))) = true).

Definition init_rows_as_they_were (st : state) : Prop :=
  (forall r : Row, ((negb (has st r)) && ((Z.eqb (stored st r) (-1)) && ((Z.eqb (last st r) (-1)) && (Z.eqb (row_lock st r) (-1))))) = true).

Definition init_tables_as_they_were (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (defined st t) (-1)) && ((Z.eqb (last_ddl st t) (-1)) && (Z.eqb (meta_lock st t) (-1)))) = true).

Definition init_nothing_to_match (st : state) : Prop :=
  (matched st).

Definition init (st : state) : Prop :=
  init_applier_nothing_delivered st /\ init_applier_counters st /\ init_applier_certification_info_is_empty st /\ init_applier_nothing_started st /\ init_nothing_delivered st /\ init_nothing_started st /\ init_rows_as_they_were st /\ init_tables_as_they_were st /\ init_nothing_to_match st.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_certify (st : state) (new_lc : Z) (witness : Row) : Prop :=
  (((negb (applier_vc (applier_n st))) = true) /\ (((if (applier_empty (applier_n st)) then ((Z.eqb new_lc ((applier_next_sn st) + (-1))) = true) else (((((applier_lc_global st) <=? new_lc) = true) /\ (((forall r : Row, ((negb ((applier_ws (applier_n st) r) && (applier_has st r))) || ((applier_item_sn st r) <=? new_lc)) = true)) /\ (((Z.eqb new_lc (applier_lc_global st)) || ((applier_ws (applier_n st) witness) && ((applier_has st witness) && (Z.eqb (applier_item_sn st witness) new_lc)))) = true)))))) /\ (((negb (local (n st))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true))))))).
Definition act_certify (st : state) (new_lc : Z) (witness : Row) : state :=
  {|
     applier_n := ((applier_n st) + 1);
     applier_next_sn := ((applier_next_sn st) + 1);
     applier_lc_global := (if (applier_empty (applier_n st)) then (applier_next_sn st) else (applier_lc_global st));
     applier_has := fun (x0 : Row) => ((applier_has st x0) || (applier_ws (applier_n st) x0));
     applier_item_sn := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (applier_next_sn st) else (applier_item_sn st x0));
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_next_sn st) else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then new_lc else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_base st) else (applier_epoch st x0));
     applier_window := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_lc_global st) else (applier_window st x0));
     applier_parent := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_item_position st witness) else (applier_parent st x0));
     applier_shared := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then witness else (applier_shared st x0));
     applier_item_position := fun (x0 : Row) => (if (applier_ws (applier_n st) x0) then (applier_n st) else (applier_item_position st x0));
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     matched := (((matched st)) /\ (((negb (vc (n st))) = true) /\ (((negb (local (n st))) = true) /\ ((if (empty (n st)) then ((Z.eqb new_lc ((next_sn st) + (-1))) = true) else (((((lc_global st) <=? new_lc) = true) /\ (((new_lc <? (next_sn st)) = true) /\ ((forall r : Row, ((negb ((ws (n st) r) && (has st r))) || ((item_sn st r) <=? new_lc)) = true))))))))));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_change_view (st : state) : Prop :=
  (((applier_vc (applier_n st)) = true) /\ (((negb (local (n st))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true)))))).
Definition act_change_view (st : state) : state :=
  {|
     applier_n := ((applier_n st) + 1);
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_base st) else (applier_epoch st x0));
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     matched := (((matched st)) /\ ((vc (n st)) = true));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* delivered to both; a transaction has the LC that the dialect gives it *)
Definition guard_join (st : state) (imported' : Row -> bool) : Prop :=
  (((applier_vc (applier_n st)) = true) /\ (((negb (local (n st))) = true) /\ (((Bool.eqb (applier_vc (applier_n st)) (vc (n st))) = true) /\ (((Bool.eqb (applier_empty (applier_n st)) (empty (n st))) = true) /\ ((forall r : Row, (Bool.eqb (applier_ws (applier_n st) r) (ws (n st) r)) = true)))))).
Definition act_join (st : state) (imported' : Row -> bool) : state :=
  {|
     applier_n := ((applier_n st) + 1);
     applier_next_sn := 2;
     applier_lc_global := 1;
     applier_has := fun (x0 : Row) => (imported' x0);
     applier_item_sn := fun (x0 : Row) => 0;
     applier_sn := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_sn st x0));
     applier_lc := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then 0 else (applier_lc st x0));
     applier_epoch := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (applier_n st) else (applier_epoch st x0));
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := (applier_n st);
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := fun (x0 : Row) => (imported' x0);
     applier_local_ws := applier_local_ws st;
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
     matched := (((matched st)) /\ (((vc (n st)) = true) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (local p)))) || (committed st p)) = true))));
     place := fun (x0 : Z) => (if (Z.eqb x0 (applier_n st)) then (n st) else (place st x0));
     rank := fun (x0 : Z) => (if (Z.eqb x0 (n st)) then (applier_n st) else (rank st x0))
  |}.

(* a local transaction, which the member commits at once *)
Definition guard_certify_local (st : state) (here : Z) : Prop :=
  (((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((applier_ws p r) && (ws (n st) r))))) || (applier_committed st p)) = true))) /\ (((Z.eqb here (n st)) = true) /\ (((local here) = true) /\ (((forall t : Tab, (negb (alters here t)) = true)) /\ ((((Z.eqb (base st) 0) || (committed st (base st))) = true) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((ws here r) && (alters (place st p) (table r)))))) || (applier_committed st p)) = true)))))))).
Definition act_certify_local (st : state) (here : Z) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := fun (x0 : Row) => ((applier_has st x0) || (ws (n st) x0));
     applier_item_sn := fun (x0 : Row) => (if (ws (n st) x0) then 0 else (applier_item_sn st x0));
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := fun (x0 : Row) => (ws (n st) x0);
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
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 here));
     stored := fun (x0 : Row) => (if (ws here x0) then here else (stored st x0));
     defined := fun (x0 : Tab) => (if (alters here x0) then here else (defined st x0));
     row_lock := fun (x0 : Row) => (if (Z.eqb (if (ws (n st) x0) then (n st) else (row_lock st x0)) here) then (-1) else (if (ws (n st) x0) then (n st) else (row_lock st x0)));
     meta_lock := fun (x0 : Tab) => (if (Z.eqb (if (alters (n st) x0) then (n st) else (meta_lock st x0)) here) then (-1) else (if (alters (n st) x0) then (n st) else (meta_lock st x0)));
     last := fun (x0 : Row) => (if (ws (n st) x0) then (n st) else (last st x0));
     last_ddl := fun (x0 : Tab) => (if (alters (n st) x0) then (n st) else (last_ddl st x0));
     before := fun (x0 : Z) (x1 : Row) => (if (Z.eqb x0 (n st)) then (last st x1) else (before st x0 x1));
     ddl_before := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (last_ddl st x1) else (ddl_before st x0 x1));
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 (n st)) && (ws (n st) x1)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if (Z.eqb x0 (n st)) then (defined st x1) else (found_ddl st x0 x1));
     matched := (((matched st)) /\ (((local (n st)) = true) /\ (((negb (vc (n st))) = true) /\ ((((Z.eqb (base st) 0) || (committed st (base st))) = true) /\ (((forall r : Row, ((negb ((ws (n st) r) || (alters (n st) (table r)))) || (Z.eqb (row_lock st r) (-1))) = true)) /\ (((forall t : Tab, ((negb (alters (n st) t)) || (Z.eqb (meta_lock st t) (-1))) = true)) /\ (((forall r : Row, ((negb (ws (n st) r)) || (Z.eqb (meta_lock st (table r)) (-1))) = true)) /\ (((forall r : Row, ((negb ((ws (n st) r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)) /\ (((forall r : Row, ((negb ((ws (n st) r) && (0 <=? (last_ddl st (table r))))) || (committed st (last_ddl st (table r)))) = true)) /\ (((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (n st)) && ((ws p r) && (alters (n st) (table r)))))) || (committed st p)) = true))) /\ (((forall t : Tab, ((negb ((alters (n st) t) && (0 <=? (last_ddl st t)))) || (committed st (last_ddl st t))) = true)) /\ (((0 <=? here) = true) /\ (((here <? ((n st) + 1)) = true) /\ ((((started st here) || (Z.eqb here (n st))) = true) /\ (((negb (committed st here)) = true) /\ (((local here) = false -> ((((forall r : Row, ((negb (ws here r)) || (Z.eqb (if (ws (n st) r) then (n st) else (row_lock st r)) here)) = true)) /\ ((forall t : Tab, ((negb (alters here t)) || (Z.eqb (if (alters (n st) t) then (n st) else (meta_lock st t)) here)) = true)))))))))))))))))))));
     place := place st;
     rank := rank st
  |}.

(* a dialect's window, and the number that it leaves out *)
Definition guard_collect_garbage_last (st : state) (window : Z) (purged' : Row -> bool) : Prop :=
  (((Z.eqb window ((applier_next_sn st) + (-1))) = true) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((applier_ws p r) && (purged' r))))) || (applier_committed st p)) = true)))).
Definition act_collect_garbage_last (st : state) (window : Z) (purged' : Row -> bool) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := ((applier_next_sn st) + (-1));
     applier_has := fun (x0 : Row) => ((applier_has st x0) && (negb (purged' x0)));
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     matched := (((matched st)) /\ ((((lc_global st) <=? window) = true) /\ (((window <? (next_sn st)) = true) /\ ((forall r : Row, ((negb ((purged' r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)))));
     place := place st;
     rank := rank st
  |}.

(* a dialect's window, and the number that it leaves out *)
Definition guard_collect_garbage_burn (st : state) (window : Z) (purged' : Row -> bool) : Prop :=
  (((Z.eqb window (applier_next_sn st)) = true) /\ ((forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((applier_ws p r) && (purged' r))))) || (applier_committed st p)) = true)))).
Definition act_collect_garbage_burn (st : state) (window : Z) (purged' : Row -> bool) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := ((applier_next_sn st) + 1);
     applier_lc_global := (applier_next_sn st);
     applier_has := fun (x0 : Row) => ((applier_has st x0) && (negb (purged' x0)));
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := fun (x0 : Row) => (purged' x0);
     imported := imported st;
     applier_local_ws := applier_local_ws st;
     n := n st;
     next_sn := ((next_sn st) + 1);
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
     matched := (((matched st)) /\ ((((lc_global st) <=? window) = true) /\ (((window <? ((next_sn st) + 1)) = true) /\ ((forall r : Row, ((negb ((purged' r) && ((has st r) && (0 <=? (last st r))))) || (committed st (last st r))) = true)))));
     place := place st;
     rank := rank st
  |}.

(* the coordinator gives it to a worker *)
Definition guard_start (st : state) (q : Z) : Prop :=
  (((0 <=? q) = true) /\ (((q <? (applier_n st)) = true) /\ (((negb (applier_started st q)) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? q))) || (applier_started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? q) && ((applier_vc q) || (((applier_vc p) && (negb (applier_vc q))) || ((negb (applier_vc q)) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_sn st p) <=? (applier_lc st q)))))))))) || (applier_committed st p)) = true)))))).
Definition act_start (st : state) (q : Z) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := fun (x0 : Z) => ((applier_started st x0) || (Z.eqb x0 q));
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
     n := n st;
     next_sn := next_sn st;
     lc_global := lc_global st;
     has := has st;
     item_sn := item_sn st;
     sn := sn st;
     lc := lc st;
     epoch := epoch st;
     base := base st;
     started := fun (x0 : Z) => ((started st x0) || (Z.eqb x0 (place st q)));
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
     matched := (((matched st)) /\ (((0 <=? (place st q)) = true) /\ ((((place st q) <? (n st)) = true) /\ (((negb (local (place st q))) = true) /\ (((negb (started st (place st q))) = true) /\ (((forall p : Z, ((negb ((0 <=? p) && (p <? (place st q)))) || (started st p)) = true)) /\ ((forall p : Z, ((negb ((0 <=? p) && ((p <? (place st q)) && (((negb (vc p)) && ((negb (local p)) && ((negb (vc (place st q))) && ((negb (local (place st q))) && ((Z.eqb (epoch st p) (epoch st (place st q))) && ((sn st p) <=? (lc st (place st q)))))))) || ((negb (local p)) && ((vc p) || (vc (place st q)))))))) || (committed st p)) = true))))))));
     place := place st;
     rank := rank st
  |}.

(* a worker's change, which the applier does not see *)
Definition guard_change_row (st : state) (here : Z) (row : Row) : Prop :=
  ((started st here) && ((negb (committed st here)) && ((negb (local here)) && ((ws here row) && ((Z.eqb (row_lock st row) (-1)) && (Z.eqb (meta_lock st (table row)) (-1))))))) = true.
Definition act_change_row (st : state) (here : Z) (row : Row) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     row_lock := fun (x0 : Row) => (if (eqb_Row x0 row) then here else (row_lock st x0));
     meta_lock := meta_lock st;
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := fun (x0 : Z) (x1 : Row) => (if ((Z.eqb x0 here) && (eqb_Row x1 row)) then (stored st x1) else (found st x0 x1));
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 here) && (eqb_Tab x1 (table row))) then (defined st x1) else (found_ddl st x0 x1));
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* a worker's change, which the applier does not see *)
Definition guard_alter (st : state) (here : Z) (tab : Tab) : Prop :=
  (((started st here) = true) /\ (((negb (committed st here)) = true) /\ (((negb (local here)) = true) /\ (((alters here tab) = true) /\ (((Z.eqb (meta_lock st tab) (-1)) = true) /\ ((forall r : Row, ((negb (eqb_Tab (table r) tab)) || (Z.eqb (row_lock st r) (-1))) = true))))))).
Definition act_alter (st : state) (here : Z) (tab : Tab) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := applier_committed st;
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     meta_lock := fun (x0 : Tab) => (if (eqb_Tab x0 tab) then here else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := fun (x0 : Z) (x1 : Tab) => (if ((Z.eqb x0 here) && (eqb_Tab x1 tab)) then (defined st x1) else (found_ddl st x0 x1));
     matched := matched st;
     place := place st;
     rank := rank st
  |}.

(* a worker's engine commit, when the member has made its changes *)
Definition guard_finish (st : state) (worker : Z) : Prop :=
  (((applier_started st worker) = true) /\ (((negb (applier_committed st worker)) = true) /\ (((forall r : Row, ((negb (ws (place st worker) r)) || (Z.eqb (row_lock st r) (place st worker))) = true)) /\ ((forall t : Tab, ((negb (alters (place st worker) t)) || (Z.eqb (meta_lock st t) (place st worker))) = true))))).
Definition act_finish (st : state) (worker : Z) : state :=
  {|
     applier_n := applier_n st;
     applier_next_sn := applier_next_sn st;
     applier_lc_global := applier_lc_global st;
     applier_has := applier_has st;
     applier_item_sn := applier_item_sn st;
     applier_sn := applier_sn st;
     applier_lc := applier_lc st;
     applier_epoch := applier_epoch st;
     applier_window := applier_window st;
     applier_parent := applier_parent st;
     applier_shared := applier_shared st;
     applier_item_position := applier_item_position st;
     applier_base := applier_base st;
     applier_started := applier_started st;
     applier_committed := fun (x0 : Z) => ((applier_committed st x0) || (Z.eqb x0 worker));
     purged := purged st;
     imported := imported st;
     applier_local_ws := applier_local_ws st;
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
     committed := fun (x0 : Z) => ((committed st x0) || (Z.eqb x0 (place st worker)));
     stored := fun (x0 : Row) => (if (ws (place st worker) x0) then (place st worker) else (stored st x0));
     defined := fun (x0 : Tab) => (if (alters (place st worker) x0) then (place st worker) else (defined st x0));
     row_lock := fun (x0 : Row) => (if (Z.eqb (row_lock st x0) (place st worker)) then (-1) else (row_lock st x0));
     meta_lock := fun (x0 : Tab) => (if (Z.eqb (meta_lock st x0) (place st worker)) then (-1) else (meta_lock st x0));
     last := last st;
     last_ddl := last_ddl st;
     before := before st;
     ddl_before := ddl_before st;
     found := found st;
     found_ddl := found_ddl st;
     matched := (((matched st)) /\ (((0 <=? (place st worker)) = true) /\ ((((place st worker) <? (n st)) = true) /\ (((started st (place st worker)) = true) /\ (((negb (committed st (place st worker))) = true) /\ (((local (place st worker)) = false -> ((((forall r : Row, ((negb (ws (place st worker) r)) || (Z.eqb (row_lock st r) (place st worker))) = true)) /\ ((forall t : Tab, ((negb (alters (place st worker) t)) || (Z.eqb (meta_lock st t) (place st worker))) = true)))))))))));
     place := place st;
     rank := rank st
  |}.

Inductive step (st : state) : state -> Prop :=
| step_certify : forall (new_lc : Z) (witness : Row), guard_certify st new_lc witness ->
    step st (act_certify st new_lc witness)
| step_change_view : guard_change_view st ->
    step st (act_change_view st)
| step_join : forall (imported' : Row -> bool), guard_join st imported' ->
    step st (act_join st imported')
| step_certify_local : forall (here : Z), guard_certify_local st here ->
    step st (act_certify_local st here)
| step_collect_garbage_last : forall (window : Z) (purged' : Row -> bool), guard_collect_garbage_last st window purged' ->
    step st (act_collect_garbage_last st window purged')
| step_collect_garbage_burn : forall (window : Z) (purged' : Row -> bool), guard_collect_garbage_burn st window purged' ->
    step st (act_collect_garbage_burn st window purged')
| step_start : forall (q : Z), guard_start st q ->
    step st (act_start st q)
| step_change_row : forall (here : Z) (row : Row), guard_change_row st here row ->
    step st (act_change_row st here row)
| step_alter : forall (here : Z) (tab : Tab), guard_alter st here tab ->
    step st (act_alter st here tab)
| step_finish : forall (worker : Z), guard_finish st worker ->
    step st (act_finish st worker).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition inv_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* what is in the relay log has one place in the order of delivery *)
Definition inv_place_is_delivered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (applier_n st)))) || ((0 <=? (place st p)) && (((place st p) <? (n st)) && ((negb (local (place st p))) && (Z.eqb (rank st (place st p)) p))))) = true).

(* what came from elsewhere is in the relay log *)
Definition inv_rank_is_logged (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((0 <=? (rank st k_)) && (((rank st k_) <? (applier_n st)) && (Z.eqb (place st (rank st k_)) k_)))) = true).

(* in the order in which it was delivered *)
Definition inv_rank_rises (st : state) : Prop :=
  (forall k_ : Z, (forall l : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && ((negb (local k_)) && ((0 <=? l) && ((l <? (n st)) && ((negb (local l)) && (k_ <? l)))))))) || ((rank st k_) <? (rank st l))) = true)).

(* both models are told the same transaction *)
Definition inv_transactions_agree (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((Bool.eqb (applier_vc (rank st k_)) (vc k_)) && (Bool.eqb (applier_empty (rank st k_)) (empty k_)))) = true).

(* and the same rows *)
Definition inv_write_sets_agree (st : state) : Prop :=
  (forall k_ : Z, (forall r : Row, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || (Bool.eqb (applier_ws (rank st k_) r) (ws k_ r))) = true)).

(* it has the same LC and SN in both *)
Definition inv_timestamps_agree (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && ((negb (local k_)) && (negb (vc k_)))))) || ((Z.eqb (applier_sn st (rank st k_)) (sn st k_)) && (Z.eqb (applier_lc st (rank st k_)) (lc st k_)))) = true).

(* it has started in both or in none, and so it has committed *)
Definition inv_progress_agrees (st : state) : Prop :=
  (forall k_ : Z, ((negb ((0 <=? k_) && ((k_ <? (n st)) && (negb (local k_))))) || ((Bool.eqb (applier_started st (rank st k_)) (started st k_)) && (Bool.eqb (applier_committed st (rank st k_)) (committed st k_)))) = true).

(* the next number and the window are the same *)
Definition inv_counters_agree (st : state) : Prop :=
  ((Z.eqb (applier_next_sn st) (next_sn st)) && ((Z.eqb (applier_lc_global st) (lc_global st)) && ((applier_n st) <=? (n st)))) = true.

(* and so is the certification info *)
Definition inv_items_agree (st : state) : Prop :=
  (forall r : Row, ((Bool.eqb (applier_has st r) (has st r)) && ((negb (has st r)) || (Z.eqb (applier_item_sn st r) (item_sn st r)))) = true).

(* a local transaction commits as soon as it is certified *)
Definition inv_sessions_are_done (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (n st)) && (local p)))) || (committed st p)) = true).

(* the window lies below the next number *)
Definition inv_applier_counters (st : state) : Prop :=
  ((0 <=? (applier_n st)) && ((0 <=? (applier_base st)) && (((applier_base st) <=? (applier_n st)) && ((1 <=? (applier_lc_global st)) && ((applier_lc_global st) <? (applier_next_sn st)))))) = true.

(* what was numbered in this epoch is below the next number *)
Definition inv_applier_numbers_lie_below_the_counter (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && (Z.eqb (applier_epoch st p) (applier_base st)))))) || ((applier_sn st p) <? (applier_next_sn st))) = true).

(* an item's number was assigned before, or is none *)
Definition inv_applier_items_lie_below_the_counter (st : state) : Prop :=
  (forall r : Row, ((negb (applier_has st r)) || ((applier_item_sn st r) <? (applier_next_sn st))) = true).

(* an uncommitted writer is remembered by the row's item or by the window *)
Definition inv_applier_item_is_covered (st : state) : Prop :=
  (forall p : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_base st)) && (applier_ws p r)))))) || ((applier_committed st p) || (((applier_has st r) && ((applier_sn st p) <=? (applier_item_sn st r))) || ((applier_sn st p) <=? (applier_lc_global st))))) = true)).

(* one without write set is remembered by the window *)
Definition inv_applier_fence_is_covered (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((negb (applier_vc p)) && ((Z.eqb (applier_epoch st p) (applier_base st)) && (applier_empty p)))))) || ((applier_sn st p) <=? (applier_lc_global st))) = true).

(* the later writer's LC reaches the earlier one's SN *)
Definition inv_applier_row_dependency_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, (forall r : Row, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_ws p r) && (applier_ws q r))))))))))) || (((applier_sn st p) <=? (applier_lc st q)) || (applier_committed st p))) = true))).

(* LC reaches across a transaction without write set *)
Definition inv_applier_fence_is_stamped (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_empty p) || (applier_empty q))))))))))) || ((applier_sn st p) <=? (applier_lc st q))) = true)).

(* each started transaction had everything up to its LC committed *)
Definition inv_applier_start_respects_last_committed (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && ((negb (applier_vc p)) && ((negb (applier_vc q)) && ((Z.eqb (applier_epoch st p) (applier_epoch st q)) && ((applier_started st q) && ((applier_sn st p) <=? (applier_lc st q)))))))))))) || (applier_committed st p)) = true)).

(* a view change started after everything before it had committed *)
Definition inv_applier_view_change_waited (st : state) : Prop :=
  (forall p : Z, (forall v : Z, ((negb ((0 <=? v) && ((v <? (applier_n st)) && ((applier_vc v) && ((applier_started st v) && ((0 <=? p) && (p <? v))))))) || (applier_committed st p)) = true)).

(* whatever follows a view change started after it *)
Definition inv_applier_view_change_is_waited_for (st : state) : Prop :=
  (forall v : Z, (forall q : Z, ((negb ((0 <=? v) && ((v <? q) && ((0 <=? q) && ((q <? (applier_n st)) && ((applier_vc v) && ((negb (applier_vc q)) && (applier_started st q)))))))) || (applier_committed st v)) = true)).

(* nothing commits that did not start *)
Definition inv_applier_finished_was_started (st : state) : Prop :=
  (forall p : Z, ((negb (applier_committed st p)) || (applier_started st p)) = true).

(* nothing starts that was not delivered *)
Definition inv_applier_started_was_delivered (st : state) : Prop :=
  (forall p : Z, ((negb (applier_started st p)) || ((0 <=? p) && (p <? (applier_n st)))) = true).

(* between two epochs lies the view change that reset the counters *)
Definition inv_applier_epoch_begins_with_a_view_change (st : state) : Prop :=
  (forall p : Z, (forall q : Z, ((negb ((0 <=? p) && ((p <? (applier_n st)) && ((0 <=? q) && ((q <? (applier_n st)) && ((p <? q) && (negb (Z.eqb (applier_epoch st p) (applier_epoch st q))))))))) || ((p <? (applier_epoch st q)) && (((applier_epoch st q) <=? q) && (applier_vc (applier_epoch st q))))) = true)).

(* an earlier epoch lies before the view change that began this one *)
Definition inv_applier_old_epoch_lies_before_the_base (st : state) : Prop :=
  (forall p : Z, ((negb ((0 <=? p) && (p <? (applier_n st)))) || (((applier_epoch st p) <=? (applier_base st)) && ((Z.eqb (applier_epoch st p) (applier_base st)) || (p <? (applier_base st))))) = true).

(* an epoch begins at a view change, or at the beginning *)
Definition inv_applier_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (applier_base st) 0) || ((applier_vc (applier_base st)) && ((applier_base st) <? (applier_n st)))) = true.

(* an epoch begins at a view change, or at the beginning *)
Definition inv_base_is_a_view_change (st : state) : Prop :=
  ((Z.eqb (base st) 0) || ((vc (base st)) && ((base st) <? (n st)))) = true.

(* delivered, then started, then committed *)
Definition inv_phases (st : state) : Prop :=
  (forall p : Z, (((negb (committed st p)) || (started st p)) && ((negb (started st p)) || ((0 <=? p) && (p <? (n st))))) = true).

(* a row is locked by a running writer of it *)
Definition inv_row_lock_is_a_writers (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (row_lock st r) (-1)) || ((0 <=? (row_lock st r)) && (((row_lock st r) <? (n st)) && ((started st (row_lock st r)) && ((negb (committed st (row_lock st r))) && (ws (row_lock st r) r)))))) = true).

(* a table is locked by a running DDL of it *)
Definition inv_meta_lock_is_a_ddls (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (meta_lock st t) (-1)) || ((0 <=? (meta_lock st t)) && (((meta_lock st t) <? (n st)) && ((started st (meta_lock st t)) && ((negb (committed st (meta_lock st t))) && (alters (meta_lock st t) t)))))) = true).

(* the last certified writer of a row writes it *)
Definition inv_last_is_a_writer (st : state) : Prop :=
  (forall r : Row, ((Z.eqb (last st r) (-1)) || ((0 <=? (last st r)) && (((last st r) <? (n st)) && (ws (last st r) r)))) = true).

(* the last certified DDL of a table alters it *)
Definition inv_last_ddl_is_one (st : state) : Prop :=
  (forall t : Tab, ((Z.eqb (last_ddl st t) (-1)) || ((0 <=? (last_ddl st t)) && (((last_ddl st t) <? (n st)) && (alters (last_ddl st t) t)))) = true).

(* whenever the leading model takes a step, the other can take the steps of its own *)
Definition safe_every_step_is_matched (st : state) : Prop :=
  (matched st).

(* a worker's change of a row has been made, or is possible *)
Definition safe_change_row_never_waits (st : state) : Prop :=
  (forall worker : Z, (forall row : Row, ((negb ((applier_started st worker) && ((negb (applier_committed st worker)) && (ws (place st worker) row)))) || ((Z.eqb (row_lock st row) (place st worker)) || ((started st (place st worker)) && ((negb (committed st (place st worker))) && ((negb (local (place st worker))) && ((ws (place st worker) row) && ((Z.eqb (row_lock st row) (-1)) && (Z.eqb (meta_lock st (table row)) (-1))))))))) = true)).

(* and so has its change of a table, or is *)
Definition safe_alter_never_waits (st : state) : Prop :=
  (forall worker : Z, (forall tab : Tab, (((negb ((applier_started st worker) && ((negb (applier_committed st worker)) && (alters (place st worker) tab)))) || (Z.eqb (meta_lock st tab) (place st worker))) = false -> ((((started st (place st worker)) = true) /\ (((negb (committed st (place st worker))) = true) /\ (((negb (local (place st worker))) = true) /\ (((alters (place st worker) tab) = true) /\ (((Z.eqb (meta_lock st tab) (-1)) = true) /\ ((forall r : Row, ((negb (eqb_Tab (table r) tab)) || (Z.eqb (row_lock st r) (-1))) = true))))))))))).

