(* Runs of a transition system, the rule of invariants, and a checker for ground refutations.
   This file is written by hand; every other file is generated from the models. *)

Require Export ZArith Bool List Lia.
Export ListNotations.
Global Open Scope Z_scope.
Global Open Scope bool_scope.

Section Runs.

Variable state : Type.
Variable init : state -> Prop.
Variable step : state -> state -> Prop.

(* A run: it starts as [init] demands; at each moment it takes a step or stays as it is. *)
Definition is_run (run : nat -> state) : Prop :=
  init (run O) /\ forall k, step (run k) (run (S k)) \/ run (S k) = run k.

Theorem invariant_rule (inv : state -> Prop) :
  (forall s, init s -> inv s) ->
  (forall s s', inv s -> step s s' -> inv s') ->
  forall run, is_run run -> forall k, inv (run k).
Proof.
  intros Start Keep run [First Next] k.
  induction k as [| k Now].
  - exact (Start _ First).
  - destruct (Next k) as [Step | Same].
    + exact (Keep _ _ Now Step).
    + rewrite Same. exact Now.
Qed.

End Runs.

(* What is not proved by cases is a truth value, so it may be proved by contradiction. *)
Lemma by_contradiction (b : bool) : (b = false -> False) -> b = true.
Proof. destruct b; [reflexivity | intro H; destruct (H eq_refl)]. Qed.

Lemma differs (A : Type) (e : A -> A -> bool) :
  (forall x y, e x y = true <-> x = y) -> forall x y, e x y = false -> x <> y.
Proof.
  intros E x y H Same. rewrite (proj2 (E x y) Same) in H. discriminate H.
Qed.

(* Ground formulas over numbered atoms. *)
Inductive form : Type :=
| Atom : nat -> form
| Lit : bool -> form
| Neg : form -> form
| Both : form -> form -> form
| Either : form -> form -> form
| Same : form -> form -> form
| Cond : form -> form -> form -> form.

Fixpoint value (atoms : list bool) (f : form) : bool :=
  match f with
  | Atom a => nth a atoms false
  | Lit b => b
  | Neg g => negb (value atoms g)
  | Both g h => value atoms g && value atoms h
  | Either g h => value atoms g || value atoms h
  | Same g h => Bool.eqb (value atoms g) (value atoms h)
  | Cond c g h => if value atoms c then value atoms g else value atoms h
  end.

(* What is known of a formula when some atoms are decided. *)
Definition told : Type := list (nat * bool).

Fixpoint find (a : nat) (known : told) : option bool :=
  match known with
  | [] => None
  | (other, b) :: rest => if Nat.eqb a other then Some b else find a rest
  end.

Fixpoint decided (known : told) (f : form) : option bool :=
  match f with
  | Atom a => find a known
  | Lit b => Some b
  | Neg g => option_map negb (decided known g)
  | Both g h =>
      match decided known g, decided known h with
      | Some false, _ => Some false
      | _, Some false => Some false
      | Some true, Some true => Some true
      | _, _ => None
      end
  | Either g h =>
      match decided known g, decided known h with
      | Some true, _ => Some true
      | _, Some true => Some true
      | Some false, Some false => Some false
      | _, _ => None
      end
  | Same g h =>
      match decided known g, decided known h with
      | Some b, Some c => Some (Bool.eqb b c)
      | _, _ => None
      end
  | Cond c g h =>
      match decided known c with
      | Some true => decided known g
      | Some false => decided known h
      | None => None
      end
  end.

(* A refutation: decide an atom, or name a formula that is false by now. *)
Inductive tree : Type :=
| Leaf : nat -> tree
| Split : nat -> tree -> tree -> tree.

Fixpoint refutes (forms : list form) (known : told) (t : tree) : bool :=
  match t with
  | Leaf i =>
      match decided known (nth i forms (Lit true)) with Some false => true | _ => false end
  | Split a yes no =>
      refutes forms ((a, true) :: known) yes && refutes forms ((a, false) :: known) no
  end.

Fixpoint all_true (atoms : list bool) (forms : list form) : Prop :=
  match forms with
  | [] => True
  | f :: rest => value atoms f = true /\ all_true atoms rest
  end.

Definition fits (atoms : list bool) (known : told) : Prop :=
  forall a b, find a known = Some b -> nth a atoms false = b.

Lemma decided_sound atoms known : fits atoms known ->
  forall f b, decided known f = Some b -> value atoms f = b.
Proof.
  intros Fits f.
  induction f as [a | c | g IHg | g IHg h IHh | g IHg h IHh | g IHg h IHh | c IHc g IHg h IHh];
    simpl; intros b H.
  - exact (Fits a b H).
  - congruence.
  - destruct (decided known g) as [v |]; [rewrite (IHg v eq_refl) |]; simpl in H; congruence.
  - destruct (decided known g) as [[] |], (decided known h) as [[] |]; try discriminate H;
      try rewrite (IHg _ eq_refl); try rewrite (IHh _ eq_refl);
      try rewrite andb_false_r; simpl; congruence.
  - destruct (decided known g) as [[] |], (decided known h) as [[] |]; try discriminate H;
      try rewrite (IHg _ eq_refl); try rewrite (IHh _ eq_refl);
      try rewrite orb_true_r; simpl; congruence.
  - destruct (decided known g) as [v |], (decided known h) as [w |]; try discriminate H.
    rewrite (IHg _ eq_refl), (IHh _ eq_refl). congruence.
  - destruct (decided known c) as [[] |]; try discriminate H; rewrite (IHc _ eq_refl); auto.
Qed.

Lemma all_true_nth atoms forms : all_true atoms forms ->
  forall i, value atoms (nth i forms (Lit true)) = true.
Proof.
  induction forms as [| f rest IH]; intros All i.
  - destruct i; reflexivity.
  - destruct All as [Now Rest]. destruct i as [| i]; simpl; auto.
Qed.

Lemma refutes_sound atoms forms t : all_true atoms forms ->
  forall known, fits atoms known -> refutes forms known t = true -> False.
Proof.
  intros All.
  induction t as [i | a yes IHyes no IHno]; simpl; intros known Fits H.
  - pose proof (all_true_nth atoms forms All i) as True_.
    destruct (decided known (nth i forms (Lit true))) as [[] |] eqn:D; try discriminate H.
    rewrite (decided_sound atoms known Fits _ _ D) in True_. discriminate True_.
  - apply andb_true_iff in H. destruct H as [Yes No].
    destruct (nth a atoms false) eqn:V.
    + apply (IHyes ((a, true) :: known)); [| exact Yes].
      intros c b. simpl. destruct (Nat.eqb_spec c a); [congruence | apply Fits].
    + apply (IHno ((a, false) :: known)); [| exact No].
      intros c b. simpl. destruct (Nat.eqb_spec c a); [congruence | apply Fits].
Qed.

Theorem refuted (atoms : list bool) (forms : list form) (t : tree) :
  refutes forms [] t = true -> all_true atoms forms -> False.
Proof.
  intros Check All. apply (refutes_sound atoms forms t All []); [| exact Check].
  intros a b H. discriminate H.
Qed.

(* Clauses are proved one literal at a time. *)
Lemma unless (b rest : bool) : (b = true -> rest = true) -> negb b || rest = true.
Proof. destruct b; [intro H; exact (H eq_refl) | reflexivity]. Qed.

Lemma or_else (b rest : bool) : (b = false -> rest = true) -> b || rest = true.
Proof. destruct b; [reflexivity | intro H; exact (H eq_refl)]. Qed.

Lemma is_not (b : bool) : (b = true -> False) -> negb b = true.
Proof. destruct b; [intro H; destruct (H eq_refl) | reflexivity]. Qed.

Lemma by_cases (c : bool) (A B : Prop) :
  (c = true -> A) -> (c = false -> B) -> if c then A else B.
Proof. destruct c; intros Yes No; [exact (Yes eq_refl) | exact (No eq_refl)]. Qed.
